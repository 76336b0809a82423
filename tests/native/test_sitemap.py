"""Sitemaps against the cases of crawler-commons."""

import gzip
import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from gossamer._native import Sitemap, canonical_url, parse_sitemap

SUITE = Path(__file__).resolve().parents[2] / ".." / "shared" / "suites" / "sitemap-crawler-commons"
HOME = "http://www.example.com/sitemap.xml"
JOB = (
    "http://jobs.optistaffing.com/EXPERIENCED-DISPATCHER-NEEDED-NOW----Jobs-in-Vancouver-WA/2333221"
)


@pytest.fixture(scope="module")
def cases() -> dict[str, dict[str, Any]]:
    path = SUITE / "inline_cases.json"
    if not path.exists():
        pytest.skip("conformance data not found: ../shared/suites/sitemap-crawler-commons")
    return {case["test"]: case for case in json.loads(path.read_text(encoding="utf-8"))}


def inline(cases: dict[str, dict[str, Any]], test: str) -> Sitemap:
    case = cases[test]
    return parse_sitemap(case["content"][0].encode(), case["url"][0])


def resource(name: str, url: str = HOME) -> Sitemap:
    path = SUITE / name
    if not path.exists():
        pytest.skip(f"conformance data not found: ../shared/suites/{path.name}")
    return parse_sitemap(path.read_bytes(), url)


def locs(found: Sitemap) -> list[str]:
    return [entry[0] for entry in found.entries]


def test_index(cases: dict[str, dict[str, Any]]) -> None:
    found = inline(cases, "testSitemapIndex")
    assert found.is_index
    assert locs(found) == [
        "http://www.example.com/sitemap1.xml.gz",
        "http://www.example.com/sitemap2.xml.gz",
        "http://www.example.com/dynsitemap?date=now&all=true",
        "http://www.example.com/dynsitemap?date=lastyear&all=false",
    ]
    day = 1096654997000000
    assert [entry[1] for entry in found.entries] == [day, 1104537600000000, day, None]


@pytest.mark.parametrize(
    ("test", "kind", "expected"),
    [
        ("testSitemapXXE", "urlset", ["http://www.example.com/visit-here"]),
        ("testSitemapXXEWithDocTypeAllowed", "urlset", ["http://www.example.com/visit-here"]),
        ("testSitemapXIncludeDisabled", "urlset", ["http://www.example.com/visit-here"]),
        (
            "testStripUnicodeWhiteSpace",
            "index",
            ["https://www.example.com/sitemap1.xml", "https://www.example.com/sitemap2.xml"],
        ),
        ("testLenientParser", "urlset", ["http://www.example.com/"]),
        ("testPartialSitemapsAllowed", "urlset", ["http://www.example.com/"]),
        ("testPartialSitemapIndicesAllowed", "index", ["http://www.example.com/sitemap1.xml.gz"]),
        (
            "testRSS10SyndicationFormat",
            "rss",
            ["http://www.example.com/pub/2000/08/09/xslt/xslt.html"],
        ),
        (
            "testUrlLocUrl",
            "urlset",
            [JOB],
        ),
    ],
)
def test_inline_cases(
    cases: dict[str, dict[str, Any]], test: str, kind: str, expected: list[str]
) -> None:
    found = inline(cases, test)
    assert (found.kind, locs(found)) == (kind, expected)


def test_forgotten_end_of_entry(cases: dict[str, dict[str, Any]]) -> None:
    found = inline(cases, "testUnclosedSitemapIndexFile")
    assert locs(found) == [f"https://www.example.org/sitemap{n}.xml" for n in (1, 2, 3)]
    assert [entry[1] is None for entry in found.entries] == [False, True, False]


@pytest.mark.parametrize(
    ("name", "kind", "count"),
    [
        ("sitemaps/sitemap.ns.xml", "urlset", 2),
        ("sitemaps/sitemap.badns.xml", "urlset", 2),
        ("sitemaps/sitemap.index.xml", "index", 15),
        ("sitemaps/sitemap.txt", "text", 2),
        ("sitemaps/sitemap-with-bom.txt", "text", 2),
        ("sitemaps/sitemap.txt.gz", "text", 5),
        ("sitemaps/xmlSitemap.gz", "urlset", 5),
        ("rss/xmlRss_pubDate.xml", "rss", 7),
        ("sitemaps/do-not-visit.txt", "text", 1),
    ],
)
def test_files(name: str, kind: str, count: int) -> None:
    found = resource(name)
    assert (found.kind, len(found.entries)) == (kind, count)


def test_extensions_are_passed_over() -> None:
    """The pages of each file, as an independent parser of XML finds them."""
    files = sorted((SUITE / "sitemaps" / "extension").glob("*.xml"))
    if not files:
        pytest.skip("conformance data not found: ../shared/suites/sitemap-crawler-commons")
    space = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
    for file in files:
        pages = ET.parse(file).findall(f"{space}url/{space}loc")
        expected = [canonical_url((page.text or "").strip(), HOME) for page in pages]
        found = parse_sitemap(file.read_bytes(), HOME)
        assert expected, file
        assert (file.name, locs(found)) == (file.name, expected)
        assert not found.truncated, file


def test_feeds() -> None:
    atom = resource("sitemaps/atom.xml", "http://example.org/atom.xml")
    assert (atom.kind, locs(atom)) == ("atom", ["http://example.org/2003/12/13/atom03"])
    assert atom.entries[0][1] == 1071340202000000
    rss = resource("rss/feed.rss", "https://www.example.com/index.php?feed/rss")
    assert locs(rss) == [
        "https://www.example.com/blog/post/1",
        "https://www.example.com/guid.html",
        "https://www.example.com/foo?q=a&l=en",
        "https://www.example.com/foo?q=a&l=fr",
    ]
    assert rss.entries[0][1] == 1252254000000000


def test_frequency_is_read() -> None:
    assert [entry[2] for entry in resource("sitemaps/sitemap.ns.xml").entries] == ["daily", "daily"]


def test_leading_blanks_and_mark() -> None:
    text = "\ufeff\n \t\r\n<urlset><url><loc>/a</loc><priority>0.5</priority></url></urlset>"
    assert parse_sitemap(text.encode(), HOME).entries == [
        ("http://www.example.com/a", None, None, 0.5)
    ]


def test_limits() -> None:
    many = "<urlset>" + "".join(f"<url><loc>/{n}</loc></url>" for n in range(100)) + "</urlset>"
    found = parse_sitemap(many.encode(), HOME, max_entries=7)
    assert (len(found.entries), found.truncated) == (7, True)
    bomb = gzip.compress(b"<urlset><url><loc>/a</loc></url>" + b" " * 10_000_000)
    found = parse_sitemap(bomb, HOME, max_bytes=1000)
    assert (len(found.entries), found.truncated) == (1, True)
    assert parse_sitemap(b"<html>404</html>", HOME).kind == "unknown"
