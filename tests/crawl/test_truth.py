"""With every behaviour of the simulated web on, a crawl finds the truth: no more and no less."""

import http.client
import json
from collections import defaultdict
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.crawl.crawling import Crawl

from gossamer.simweb import ALL_BEHAVIOURS, Options, serve, truth
from gossamer.simweb.truth import Row

pytestmark = pytest.mark.timeout(500)

GAP = 0.02
CRAWL_DELAY_CUT = 0.04
SETTINGS = {
    # Waits of minutes and days become short enough for a test; nothing else is changed.
    "politeness.delay": f"{GAP * 1000:.0f}ms",
    "politeness.max_crawl_delay": f"{CRAWL_DELAY_CUT * 1000:.0f}ms",
    "politeness.retry_wait": "100ms",
    "politeness.robots_patience": "2s",
    "politeness.set_aside_for": "1s",
    "politeness.response_factor": "0",
    "alias.enabled": "false",
}
PAGE_OUTCOMES = {"fetched", "duplicate"}


def wanted(row: Row, announcing: set[str]) -> bool:
    """Pages that a crawler must have: reachable (or in an announced sitemap), allowed and there."""
    in_sitemap = row.orphan == "sitemap" and urlsplit(row.url).netloc in announcing
    reachable = row.depth is not None or in_sitemap
    return bool(row.allowed and row.fetchable and reachable and not row.trap)


def announces_sitemap(host: str) -> bool:
    """Whether a plain client finds a sitemap named in the host's robots file."""
    connection = http.client.HTTPConnection(host, timeout=30)
    connection.request("GET", "/robots.txt")
    response = connection.getresponse()
    text = response.read().decode("latin-1")
    connection.close()
    return response.status == 200 and "\nsitemap:" in text.lower()


def in_trap(url: str) -> bool:
    path = "/" + url.split("/", 3)[3]
    return path.startswith(
        ("/calendar/", "/deep/", "/shop?", "/shop/", "/filter", "/old/", "/partners/")
    )


@pytest.fixture(scope="module")
def crawled(tmp_path_factory):
    directory = tmp_path_factory.mktemp("truth")
    # Slow hosts are slow enough to be so, and no more: one of them would take half a minute.
    behaviours = ALL_BEHAVIOURS | {"drip_seconds": 0.12}
    options = Options(port=0, hosts=30, pages=1200, **behaviours)
    with serve(options, log=directory / "requests.log") as web:
        sets = [part for name, value in SETTINGS.items() for part in ("--set", f"{name}={value}")]
        usual = ["--scope", "any", "--allow-private", *sets]
        crawl = Crawl(web, directory / "out", *usual, environ={})
        assert crawl.run(seconds=400) == 0, crawl.said()
        result = crawl.summary()
        visits = web.requests()
        rows = {row.url: row for row in truth(web.options).rows()}
        hosts = {urlsplit(url).netloc for url in rows}
        announcing = {host for host in hosts if announces_sitemap(host)}
    assert announcing, "no sitemap in this web: choose another seed"
    lines = [
        json.loads(line)
        for file in sorted((directory / "out" / "log").iterdir())
        for line in file.read_text().splitlines()
    ]
    return directory, result, rows, lines, announcing, visits


def test_the_pages_fetched_are_the_truth(crawled):
    _, result, rows, lines, announcing, _ = crawled
    assert result["activity"] == "finished"
    assert result["urls_queued"] == 0
    fetched = {line["url"] for line in lines if line["outcome"] in PAGE_OUTCOMES}
    pages = {url for url in fetched if "robots.txt" not in url and "/sitemap" not in url}
    expected = {url for url, row in rows.items() if wanted(row, announcing)}
    assert expected - pages == set()
    assert {url for url in pages - expected if not in_trap(url)} == set()


def test_traps_end(crawled):
    _, _, rows, lines, *_ = crawled
    assert any(row.trap for row in rows.values()), "no trap in this web: choose another seed"
    inside = [line for line in lines if in_trap(line["url"]) and line["status"]]
    assert 0 < len(inside) < 150


def test_nothing_forbidden_was_asked_for(crawled):
    directory, _, rows, _, _, visits = crawled
    forbidden = {url for url, row in rows.items() if not row.allowed}
    assert forbidden, "no forbidden URL in this web: choose another seed"
    asked = {f"http://{host}{path}" for _, _, host, path, _ in requests(directory, visits)}
    assert asked & forbidden == set()


def requests(directory: Path, visits: int) -> list[tuple[float, str, str, str, str]]:
    """The server's own log of the crawl: seconds, connection, host, path, status."""
    entries = []
    for line in (directory / "requests.log").read_text().splitlines()[:visits]:
        time, connection, host, path, status = line.split(" ")
        entries.append((int(time) / 1e6, connection, host, path, status))
    return entries


def test_the_server_saw_every_gap(crawled):
    """By the server's clock, between any two requests of a host (each has its own address)."""
    directory, *_, visits = crawled
    by_host = defaultdict(list)
    for time, _, host, path, _ in requests(directory, visits):
        by_host[host].append((time, path))
    gaps = [
        (later[0] - earlier[0], host, earlier[1], later[1])
        for host, visits in by_host.items()
        for earlier, later in zip(sorted(visits), sorted(visits)[1:], strict=False)
    ]
    assert len(gaps) > 1000
    # The server notes a request when it has read it, so a millisecond may be lost on the way.
    assert [gap for gap in gaps if gap[0] < GAP - 0.001] == []
