"""Robots rules as real files spell them: what they forbid is not asked for, and an audit would say so."""

import codecs
import subprocess
import sys
from pathlib import Path

import pytest
from tests.crawl.pages import Answer, crawled, serving

RULES = """User-agent: *
Disallow: /sitecore modules/
Disallow: /wiki/Special%3A
Disallow: /*?f%5B0%5D=
Disallow: /path/file-with-a-%2A.html
Disallow: /für/
"""
LINKS = {
    "/sitecore modules/a": "/sitecore%20modules/a",
    "/wiki/Special:Search": None,
    "/wiki/Special%3ASearch": None,
    "/wiki/Species": None,
    "/shop?f[0]=red": None,
    "/shop?f%5B0%5D=red": None,
    "/shop?f0=red": None,
    "/path/file-with-a-*.html": None,
    "/path/file-with-a-b.html": None,
    "/für/uns": "/f%C3%BCr/uns",
}
ALLOWED = {"/wiki/Species", "/shop?f0=red", "/path/file-with-a-b.html"}

BODIES = {
    "utf-8": RULES.encode(),
    "utf-16-le": codecs.BOM_UTF16_LE + RULES.encode("utf-16-le"),
    "utf-16-be": codecs.BOM_UTF16_BE + RULES.encode("utf-16-be"),
}


@pytest.mark.parametrize("charset", BODIES)
def test_what_a_rule_forbids_is_forbidden_in_every_spelling(charset: str, tmp_path: Path) -> None:
    pages: dict[str, str | Answer] = {
        "/": "".join(f'<a href="{link}">x</a>' for link in LINKS),
        "/robots.txt": Answer(BODIES[charset], {"Content-Type": "text/plain"}),
    }
    pages |= {asked or link: f"page {link}" for link, asked in LINKS.items()}
    out = tmp_path / "out"
    with serving(pages) as served:
        log = crawled(f"http://127.0.0.1:{served.port}/", out)
    assert set(served.asked) == {"/", "/robots.txt"} | ALLOWED
    outcomes = [line["outcome"] for line in log]
    assert outcomes.count("robots_refused") == len(LINKS) - len(ALLOWED)
    audit = [sys.executable, "-m", "gossamer.cli.main", "audit", str(out)]
    assert subprocess.run(audit, capture_output=True, check=False, timeout=60).returncode == 0
