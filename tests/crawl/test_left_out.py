"""Links that are not followed are counted by reason, and everybody who asks is told."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.crawl.pages import Answer, crawl, serving

GOSSAMER = [sys.executable, "-m", "gossamer.cli.main"]


def gossamer(*arguments: str | Path) -> str:
    done = subprocess.run(
        [*GOSSAMER, *map(str, arguments)], check=True, capture_output=True, text=True, timeout=100
    )
    return done.stdout


def why(url: str, out: Path) -> tuple[dict[str, Any], str]:
    account: dict[str, Any] = json.loads(gossamer("why", url, "--out", out, "--json"))
    return account, gossamer("why", url, "--out", out)


def test_an_index_page_with_50_000_links_is_taken_whole(tmp_path: Path) -> None:
    links = "".join(f'<a href="/page/{number}.html">{number}</a>\n' for number in range(50_000))
    with serving({"/": links}) as served:
        done = crawl(f"http://127.0.0.1:{served.port}/", "--max-pages", "1", out=tmp_path / "out")
    assert done.summary["urls_seen"] == 50_001
    assert done.summary["links_left_out"] == {}
    # A batch with them all was applied, so the longest took some time, and less than the crawl.
    assert 0 < done.summary["longest_batch"] < done.summary["seconds"]


def test_a_page_whose_links_are_cut_says_so(tmp_path: Path) -> None:
    links = "".join(f'<a href="/page/{number}.html">{number}</a>\n' for number in range(1000))
    out = tmp_path / "out"
    with serving({"/": links}) as served:
        url = f"http://127.0.0.1:{served.port}/"
        done = crawl(url, "--set", "parse.links_bytes=8KiB", "--max-pages", "1", out=out)
    cut = done.summary["links_left_out"]["cut"]
    assert cut == 1001 - done.summary["urls_seen"] > 0
    line = next(line for line in done.log if line["url"] == url)
    assert line["left_out"] == {"cut": cut}
    assert "parse.links_bytes" in done.said
    account, words = why(url, out)
    assert account["visits"][-1]["left_out"] == {"cut": cut}
    assert "parse.links_bytes" in words


def test_a_start_page_with_nofollow_says_so(tmp_path: Path) -> None:
    links = "".join(f'<a href="/{number}">{number}</a>' for number in range(14))
    out = tmp_path / "out"
    with serving({"/": f'<meta name="robots" content="noindex, nofollow">{links}'}) as served:
        url = f"http://127.0.0.1:{served.port}/"
        done = crawl(url, out=out)
    assert done.summary["pages"] == 1
    assert done.summary["links_left_out"] == {"nofollow": 14}
    assert done.summary["robots_said"] == {"noindex": 1, "nofollow": 1}
    assert "scope.nofollow=false" in done.said
    assert "1 say nofollow and 1 say noindex to robots" in done.said
    account, words = why(url, out)
    assert account["visits"][-1]["robots"] == "noindex nofollow"
    assert "14 links were not followed: nofollow" in words


EVERY_REASON = """
    <a href="http://elsewhere.test/">other site</a> <a href="http://blocked.test/">blocked</a>
    <a href="mailto:someone@example.org">mail</a> <a href="javascript:void(0)">script</a>
    <a href="/logo.png">picture</a> <a href="/private/x">excluded</a> <a href="/a/b/c/d">deep</a>
    <a href="http://[broken/">no URL</a> <a href="/marked" rel="nofollow">marked</a>
    <a href="/good">good</a> <link rel="shortlink" href="/?p=1">
"""


def test_every_reason_is_counted_and_names_what_would_change_it(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with serving({"/": EVERY_REASON, "/good": "good"}) as served:
        url = f"http://127.0.0.1:{served.port}/"
        settings = [
            'scope.exclude=["/private/"]',
            "limits.site_depth=2",
            'scope.block=["blocked.test"]',
        ]
        options = [word for one in settings for word in ("--set", one)]
        done = crawl(url, *options, out=out)
        resumed = crawl("--resume", out=out)
    expected = {
        "other_site": 2, "scheme": 2, "suffix": 1, "excluded": 1, "too_deep": 1, "url_refused": 1,
        "nofollow": 1, "relation": 1,
    }  # fmt: skip
    assert done.summary["links_left_out"] == expected
    assert resumed.summary["links_left_out"] == expected, "as durable as pages"
    assert done.outcomes() == {
        "127.0.0.1/robots.txt": "gone", "127.0.0.1/": "fetched", "127.0.0.1/good": "fetched",
    }  # fmt: skip
    said = " ".join(done.said.split())
    for name in expected:
        assert name in said
    audited = json.loads(gossamer("audit", out, "--json"))
    assert audited["links_left_out"] == expected


LINK_ELEMENTS = {
    "canonical": '<link rel="canonical" href="/canonical">',
    "next": '<link rel="next" href="/next">',
    "language": '<link rel="alternate" hreflang="de" href="/de">',
    "feed": '<link rel="alternate" type="application/rss+xml" href="/feed">',
    "atom": '<link rel="alternate" type="application/atom+xml; charset=utf-8" href="/atom">',
    "json feed": '<link rel="alternate" type="application/feed+json" href="/feed.json">',
    "oembed": '<link rel="alternate" type="application/json+oembed" href="/oembed?url=x">',
    "oembed xml": '<link rel="alternate" type="text/xml+oembed" href="/oembed?url=x&amp;format=xml">',
    "short": '<link rel="shortlink" href="/?p=7">',
    "edit": '<link rel="EditURI" type="application/rsd+xml" href="/xmlrpc.php?rsd">',
    "writer": '<link rel="wlwmanifest" href="/wlwmanifest.xml">',
    "interface": '<link rel="https://api.w.org/" href="/wp-json/">',
    "pingback": '<link rel="pingback" href="/xmlrpc.php">',
    "search": '<link rel="search" type="application/opensearchdescription+xml" href="/search.xml">',
    "prefetch": '<link rel="dns-prefetch" href="//other.test">',
    "unknown": '<link rel="something-new" href="/new">',
}


def test_link_elements_are_followed_where_they_lead_to_pages(tmp_path: Path) -> None:
    header = {"Link": '</wp-json/x>; rel="https://api.w.org/", </after>; rel=next'}
    start = Answer("".join(LINK_ELEMENTS.values()), headers=header)
    with serving({"/": start}) as served:
        url = f"http://127.0.0.1:{served.port}/"
        done = crawl(url, out=tmp_path / "out")
        wanted = {"/robots.txt", "/", "/canonical", "/next", "/de", "/after"}
        assert set(served.asked) == wanted
        # Pingback and hints for browsers are no links at all.
        assert done.summary["links_left_out"] == {"relation": len(LINK_ELEMENTS) - 3 - 2 + 1}
        crawl(url, "--set", 'scope.relations=["next", "feed"]', out=tmp_path / "feeds")
        assert set(served.asked) == wanted | {"/feed", "/atom", "/feed.json"}
