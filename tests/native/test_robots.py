"""Robots rules against Google's own cases and the results that RFC 9309 lists."""

import base64
import json
import re
from pathlib import Path
from typing import Any

import pytest

from gossamer._native import Robots, product_token, robots_lines, robots_meaning

SUITES = Path(__file__).resolve().parents[2] / ".." / "shared" / "suites"


@pytest.fixture(scope="module")
def cases() -> dict[str, Any]:
    path = SUITES / "robots-google" / "cases.json"
    if not path.exists():
        pytest.skip("conformance data not found: ../shared/suites/robots-google/cases.json")
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def body(row: dict[str, Any]) -> bytes:
    if "robots_b64" in row:
        return base64.b64decode(row["robots_b64"])
    return str(row["robots"]).encode()


def path_of(url: str) -> str:
    """Path and query, as written: these cases are about spelling, so nothing is made canonical."""
    url = url.split("#", maxsplit=1)[0]
    found = re.match("[a-z]+://[^/?]*(.*)", url)
    path = found[1] if found else url
    return path if path.startswith("/") else f"/{path}"


def wrong(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        row
        for row in rows
        if Robots(body(row), row["user_agent"]).allows(path_of(row["url"])) != row["allowed"]
    ]


def test_every_rfc_row(cases: dict[str, Any]) -> None:
    rows = [row for row in cases["allowed"] if not row["google_only"]]
    assert len(rows) == 72
    assert wrong(rows) == []


def test_google_only_rows(cases: dict[str, Any]) -> None:
    rows = [row for row in cases["allowed"] if row["google_only"]]
    assert len(rows) == 73
    # That `/dir/index.html` stands for `/dir/` too is Google's own: RFC 9309 has no such rule.
    assert [row["test"] for row in wrong(rows)] == ["GoogleOnly_IndexHTMLisDirectory"]


def test_counts_of_lines(cases: dict[str, Any]) -> None:
    known = {"user-agent", "allow", "disallow", "sitemap"}
    for row in cases["parse_stats"]:
        lines = robots_lines(body(row))
        got = {
            "valid_directives": sum(key in known for _, key, _ in lines),
            "unknown_directives": sum(key == "unknown" for _, key, _ in lines),
            "last_line_seen": max(number for number, _, _ in lines),
        }
        assert got[row["metric"]] == row["value"], row


def test_sitemap_lines(cases: dict[str, Any]) -> None:
    for row in cases["sitemap"]:
        assert Robots(body(row), "any").sitemaps == [row["sitemap"]]


def test_agent_names(cases: dict[str, Any]) -> None:
    for row in cases["valid_user_agent"]:
        agent = row["user_agent"]
        assert (agent != "" and product_token(agent) == agent) == row["valid"], row


def test_escapes_of_patterns(cases: dict[str, Any]) -> None:
    for raw, spelled in cases["escape_pattern"]:
        rules = Robots(f"user-agent: *\ndisallow: {raw}".encode(), "any")
        found = rules.which_rule(spelled)
        assert found is not None
        assert found[2] == spelled


@pytest.mark.parametrize(
    ("status", "redirects", "meaning"),
    [
        (200, 0, "rules"),
        (301, 0, "follow"),
        (302, 4, "follow"),
        (302, 5, "allow_all"),
        (400, 0, "allow_all"),
        (404, 0, "allow_all"),
        (499, 0, "allow_all"),
        (429, 0, "unreachable"),
        (500, 0, "unreachable"),
        (599, 0, "unreachable"),
        (None, 0, "nobody_answered"),
    ],
)
def test_access_results(status: int | None, redirects: int, meaning: str) -> None:
    assert robots_meaning(status, redirects) == meaning


def test_every_sitemap_line_of_a_long_file_counts() -> None:
    body = b"".join(b"Sitemap: /map-%d.xml\n" % number for number in range(5000))
    assert len(Robots(body, "any").sitemaps) == 5000


def test_what_why_shows() -> None:
    rules = Robots(
        b"User-agent: gossamer\nCrawl-delay: 1.5\n\nDisallow: /a*b\nAllow: /a", "gossamer"
    )
    assert rules.which_rule("/axb") == (4, False, "/a*b")
    assert rules.which_rule("/z") is None
    assert (rules.crawl_delay, rules.rule_count) == (1.5, 2)
    assert rules.heap_size < 100
