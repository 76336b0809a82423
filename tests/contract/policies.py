"""What every policy of a door promises, ours and anybody's.

Batches as the native side makes them, odd values included; a policy must answer each with columns that
pass the checks, look only at the columns that it asked for, and leave the batch as it was.
"""

import copy
from typing import Any

from tests.policy.batches import Rows

from gossamer.policy.ask import ask
from gossamer.policy.chosen import formula_of
from gossamer.policy.doors import DOORS
from gossamer.policy.loader import find, misfits

NOW = 1_794_773_089_000_000
URLS = ["http://a.example/", "https://xn--a.example:8080/x/y?q=1&r=%00", f"http://b/{'z' * 2000}"]
LINKS = [{"url": "http://a.example/1", "kind": "a", "anchor": "näher"}]

# For each column the values of three rows: usual ones, and the oddest that the web can bring.
SAMPLES: dict[str, dict[str, list[Any]]] = {
    "pages": {
        "url": URLS, "host": ["a.example", "xn--a.example", "b"], "depth": [0, 1, 65535],
        "from": [None, URLS[0], URLS[1]], "outcome": ["fetched", "gone", "truncated"],
        "status": [200, 404, 999], "content_type": ["text/html", None, "\x00;"],
        "fetched_at": [NOW, 0, 2**62], "ms": [0.0, 1.5, 1e9], "bytes": [0, 20_000, 2**40],
        "title": ["A", None, "\U0001f98e" * 500], "language": ["de", None, "x-klingon"],
        "charset": ["utf-8", None, "windows-1252"], "text_bytes": [0, 500, 2**40],
        "simhash": [0, 1, 2**64 - 1], "noindex": [False, True, False],
        "nofollow": [False, True, False], "noarchive": [False, True, None],
        "canonical": [None, URLS[0], "not a url"],
        "headers": [[{"name": "server", "value": "x"}], [], [{"name": "a", "value": "\x7f"}]],
        "links": [LINKS, [], LINKS * 300], "text": ["words", None, ""],
        "body": [b"<p>", None, b"\xff\x00" * 10_000],
    },
    "order": {
        "url": URLS, "host": ["a.example", "xn--a.example", "b"], "depth": [0, 1, 65535],
        "from": [None, URLS[0], URLS[1]], "kind": ["a", "", "link"],
        "anchor": [None, "", "näher " * 40], "parent_score": [None, 0.0, 1.0],
        "dynamic": [False, True, False], "seed": [True, False, False],
        "sitemap": [False, False, True], "native_score": [1.0, 0.5, 0.0],
    },
    "refresh": {
        "url": URLS, "host": ["a.example", "xn--a.example", "b"], "depth": [0, 1, 65535],
        "outcome": ["fetched", "not_modified", "gone"], "fetched_at": [NOW, 1, 2**53],
        "first_visit": [NOW, 0, 2**53], "visits": [1, 2, 2**32 - 1],
        "changes": [0, 1, 2**32 - 1], "unchanged": [0, 0, 2**32 - 1],
        "last_change": [None, NOW, 0], "etag": [None, '"x"', 'W/"\x7f"'],
        "last_modified": [None, "Mon, 16 Nov 2026 10:00:00 GMT", "tomorrow"],
        "native_next": [0, NOW, 2**53],
    },
    "hosts": {
        "host": ["a.example", "xn--a.example", "b"], "pattern": [None, "/x/*", ""],
        "queued": [0, 1, 2**40], "fetched": [0, 10, 2**40], "new": [0, 10, 2**40],
        "duplicate": [0, 0, 2**40], "errors": [0, 10, 2**40], "bytes": [0, 10, 2**50],
        "in_domains": [0, 1, 2**32 - 1], "since": [0.0, 5.0, 1e9], "weight": [1.0, 0.0, 1000.0],
        "delay": [0.0, 1.0, 86400.0], "budget": [None, 0, 2**32 - 1],
        "standing": ["active", "set_aside", "given_up"],
    },
}  # fmt: skip


def check_policy(door: str, name: str, settings: dict[str, Any]) -> None:
    """All promises at once; the first one broken is named."""
    cls: Any = find(door, name)
    assert cls.name == name
    check_class(door, cls, settings)


def check_class(door: str, cls: Any, settings: dict[str, Any]) -> None:
    assert misfits(cls, DOORS[door]) == []
    declared = formula_of(cls)
    if declared is not None:
        check_formula(declared.to_native())
        return
    policy = cls(settings)
    asked = list(policy.columns)
    samples = SAMPLES[door]
    for rows in (
        {column: samples[column] for column in asked},
        {column: samples[column][:1] for column in asked},
        {column: list(reversed(samples[column])) * 200 for column in asked},
    ):
        before = copy.deepcopy(rows)
        batch = Rows(door, rows)
        answer = ask(batch, [policy])
        assert rows == before, "the batch was changed"
        assert "reason" in answer
        assert all(len(values) == len(batch) for values in answer.values())
    # Whoever is asked again with the same rows still has an answer.
    ask(Rows(door, {column: samples[column] for column in asked}), [policy])


def check_formula(declared: dict[str, Any]) -> None:
    """Every number is one, the seeds come first, and depth alone never leaves 0 to 1 at its ends."""
    numbers = dict(declared)
    kinds = numbers.pop("kinds")
    assert set(numbers) == {
        "base", "depth", "deepest", "dynamic", "parameter", "parent", "sitemap", "seed",
    }  # fmt: skip
    assert all(abs(value) < 1e6 for value in [*numbers.values(), *kinds.values()])
    assert 0 <= numbers["seed"] <= 1
    for depth in (1, numbers["deepest"]):
        assert 0 <= numbers["base"] + numbers["depth"] * depth <= 1
    assert 0 <= numbers["deepest"] <= 65535
