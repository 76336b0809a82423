"""The door `order`: the policy's score decides which URL comes first."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.native.doors import Crawl, page, settings, site

from gossamer._native import Batch, why

COLUMNS = [
    "url", "host", "depth", "from", "kind", "anchor", "parent_score", "dynamic", "seed", "sitemap",
    "native_score",
]  # fmt: skip
PAGES = {"/": page(*[f"/{n}" for n in range(20)])} | {
    f"/{n}": page(text=f"page {n} of its own kind with its own word w{n}") for n in range(20)
}


def test_the_best_score_comes_first(tmp_path: Path) -> None:
    rows: dict[str, dict[str, Any]] = {}

    def odd_first(batch: Batch) -> dict[str, list[Any]]:
        columns = {name: batch.column(name) for name in batch.columns}
        for row, url in enumerate(columns["url"]):
            rows[url] = {name: columns[name][row] for name in columns}
        numbers = [url.rsplit("/", 1)[1] or "0" for url in columns["url"]]
        score = [1 - int(number) / 64 if int(number) % 2 else 0.1 for number in numbers]
        return {"score": score, "reason": ["odd" if s > 0.1 else None for s in score]}

    with site(PAGES) as web:
        crawl = Crawl(tmp_path, {"order": {"columns": COLUMNS}}, {"order": odd_first})
        crawl.run(web.url + "/")
        assert crawl.why(web.url + "/3")["policies"] == {"order": "odd"}
        crawl.close()
        # Also when nobody has the crawl open.
        ended = json.loads(why(tmp_path, settings({}), web.url + "/3"))
        assert ended["policies"] == {"order": "odd"}
    order = [int(path[1:]) for path in web.requests if path[1:].isdigit()]
    assert order[:10] == list(range(1, 20, 2))
    seed, link = rows[web.url + "/"], rows[web.url + "/3"]
    assert seed["seed"]
    assert seed["from"] is None
    assert seed["kind"] == "seed"
    assert link["anchor"] == "to /3"
    assert link["kind"] == "a"
    assert link["depth"] == 1
    assert link["from"] == web.url + "/"
    assert not link["dynamic"]
    assert not link["sitemap"]
    assert 0 < link["native_score"] < seed["native_score"] <= 1


def test_rows_without_a_score_have_the_formula_s(tmp_path: Path) -> None:
    def some(batch: Batch) -> dict[str, list[Any]]:
        return {"score": [None] * len(batch)}

    with site(PAGES) as web:
        crawl = Crawl(tmp_path, {"order": {"columns": ["url"]}}, {"order": some})
        progress = crawl.run(web.url + "/")
        assert progress["doors"]["order"]["batches"] >= 2
        assert progress["doors"]["order"]["rows"] == 21
        crawl.close()
    assert [path for path in web.requests if path[1:].isdigit()] == [f"/{n}" for n in range(20)]


def test_a_re_rank_asks_for_what_is_queued(tmp_path: Path) -> None:
    first = True

    def score(batch: Batch) -> dict[str, list[Any]]:
        numbers = [int(url.rsplit("/", 1)[1] or "0") for url in batch.column("url")]
        return {"score": [n / 64 if first else 0.9 - n / 64 for n in numbers]}

    with site(PAGES) as web:
        doors = {"order": {"columns": ["url"], "rows": 7}}
        crawl = Crawl(tmp_path, doors, {"order": score}, politeness={"delay": "200ms"})
        crawl.run(web.url + "/", until=lambda: crawl.progress["urls_queued"] >= 19)
        first = False
        crawl.node.rerank()
        crawl.run(until=lambda: crawl.progress["reranking"] == 0)
        assert crawl.progress["reranked"] > 10
        asked = len(web.requests)
        crawl.node.set_settings(settings(doors))
        crawl.run()
        crawl.close()
    order = [int(path[1:]) for path in web.requests[asked:] if path[1:].isdigit()]
    # What was handed out already comes as it was; from then on the other way round.
    assert order[2:] == sorted(order[2:])


def test_reasons_and_scores_wait_in_the_queue_and_a_re_rank_changes_both(tmp_path: Path) -> None:
    """A re-rank gives the formula's score to ask by, and what is not answered stays as it is."""
    usual: list[float] = []
    words = ["first"]

    def score(batch: Batch) -> dict[str, list[Any]]:
        if words[-1] == "fails":
            raise ArithmeticError("no score today")
        usual.extend(batch.column("native_score"))
        scores = [0.25 if words[-1] == "first" else 0.5] * len(batch)
        return {"score": scores, "reason": [words[-1]] * len(batch)}

    doors = {"order": {"columns": ["native_score"]}}
    changes: dict[str, Any] = {
        "politeness": {"delay": "300ms"},
        "rule": [{"name": "less", "score": "-0.125"}],
    }
    with site(PAGES) as web:
        crawl = Crawl(tmp_path, doors, {"order": score}, **changes)
        crawl.run(web.url + "/", until=lambda: crawl.progress["urls_queued"] >= 17)
        crawl.node.set_paused(True)

        def queued() -> tuple[float, str]:
            # What is under way to the store is not seen by `why`.
            crawl.node.checkpoint()
            account = crawl.why(web.url + "/17")
            return round(account["queued"]["score"], 3), account["policies"]["order"]

        assert queued() == (0.125, "first")
        for word in ("second", "fails"):
            words.append(word)
            crawl.node.rerank()
            crawl.run(until=lambda: crawl.progress["reranking"] == 0)
            assert queued() == (0.375, "second")
        crawl.close()
        crawl = Crawl(tmp_path, doors, {}, **changes)
        assert queued() == (0.375, "second")
        crawl.close()
    # What the formula says of a page one link from the seed, not what was given before.
    assert {round(one, 3) for one in usual[1:]} == {0.984}
