"""What is served, seen by a plain client, equals the truth, with every behaviour on."""

import gzip
import re
from collections import defaultdict
from collections.abc import Iterator
from urllib.parse import urljoin

import pytest
from tests.simweb.client import Client, Response, decoded, links, title

from gossamer.simweb import ALL_BEHAVIOURS, Options, SimWeb, Truth, serve, truth
from gossamer.simweb.truth import Row

CODINGS = {"Accept-Encoding": "gzip, br, zstd"}
OPTIONS = Options(
    seed=7,
    hosts=40,
    pages=3_000,
    port=0,
    **ALL_BEHAVIOURS
    | {"latency": "", "drip": 0.0, "robots": 1.0, "traps": 0.3, "change_rate": 0.0},
)


@pytest.fixture(scope="module")
def web() -> Iterator[SimWeb]:
    with serve(OPTIONS) as running:
        yield running


@pytest.fixture(scope="module")
def known(web: SimWeb) -> Truth:
    return truth(web.options)


@pytest.fixture(scope="module")
def rows(known: Truth) -> list[Row]:
    return list(known.rows())


@pytest.fixture(scope="module")
def answers(web: SimWeb, rows: list[Row]) -> dict[str, tuple[Response, Response]]:
    """The first and the second answer of every URL."""
    client = Client()
    got = {row.url: (client.get(row.url, CODINGS), client.get(row.url, CODINGS)) for row in rows}
    client.close()
    return got


def test_the_start_page_is_first_and_urls_are_distinct(web: SimWeb, rows: list[Row]) -> None:
    assert rows[0].url == web.url
    assert rows[0].depth == 0
    assert len({row.url for row in rows}) == len(rows)


def test_every_behaviour_occurs(rows: list[Row]) -> None:
    assert {row.kind for row in rows} == {
        "ok", "redirect", "error", "error_once", "reset", "reset_once", "throttled_once",
        "duplicate", "near_duplicate", "dead", "trap",
    }  # fmt: skip
    assert {row.orphan for row in rows} >= {None, "path", "sitemap"}
    assert {row.charset for row in rows} == {"utf-8", "gbk", "shift_jis", "iso-8859-1"}
    assert any(row.noindex for row in rows)
    assert any(row.nofollow for row in rows)
    assert any(row.mirror for row in rows)
    assert any(not row.allowed for row in rows)


def test_statuses(rows: list[Row], answers: dict[str, tuple[Response, Response]]) -> None:
    for row in rows:
        first, second = (answer.status for answer in answers[row.url])
        if row.kind.endswith("_once"):
            # A page may be the target of nothing else here, so its first request is ours.
            assert (first, second) == (row.status, 200), row
        elif row.kind == "redirect":
            assert first in {301, 302, 303, 307, 308}, row
        else:
            assert (first, second) == (row.status, row.status), row


def test_links(rows: list[Row], answers: dict[str, tuple[Response, Response]]) -> None:
    compared = 0
    for row in rows:
        if row.fetchable and row.trap is None:
            html = decoded(answers[row.url][1])
            assert links(row.url, html) == row.links, row.url
            assert b"/decoy/" in html
            compared += 1
    assert compared > 2_500
    assert not any("decoy" in link for row in rows for link in row.links)


def test_redirects(rows: list[Row], answers: dict[str, tuple[Response, Response]]) -> None:
    for row in rows:
        if row.kind == "redirect":
            assert urljoin(row.url, answers[row.url][0].headers["location"]) == row.redirect


def test_redirects_loop_chain_and_cross_hosts(rows: list[Row]) -> None:
    after = {row.url: row.redirect for row in rows if row.redirect}
    ends = set()
    for url, first in after.items():
        seen, here = [url], first
        while here in after and here not in seen:
            seen.append(here)
            here = after[here]
        ends.add((here in seen, len(seen) > 2, here.split("/")[2] != url.split("/")[2]))
    assert (
        {end[0] for end in ends}
        == {end[1] for end in ends}
        == {end[2] for end in ends}
        == {True, False}
    )


def test_duplicates_are_equal_and_others_differ(
    rows: list[Row], answers: dict[str, tuple[Response, Response]]
) -> None:
    by_class: dict[int, set[bytes]] = defaultdict(set)
    by_body: dict[bytes, set[int]] = defaultdict(set)
    members: dict[int, int] = defaultdict(int)
    for row in rows:
        if row.duplicate_class is not None:
            body = decoded(answers[row.url][1])
            by_class[row.duplicate_class].add(body)
            by_body[body].add(row.duplicate_class)
            members[row.duplicate_class] += 1
    assert all(len(bodies) == 1 for bodies in by_class.values())
    assert all(len(classes) == 1 for classes in by_body.values())
    assert sum(count > 1 for count in members.values()) > 50


def test_near_duplicates_are_near(
    rows: list[Row], answers: dict[str, tuple[Response, Response]]
) -> None:
    by_class = {row.duplicate_class: row for row in rows if row.duplicate_class is not None}
    for row in rows:
        if row.kind == "near_duplicate" and not row.mirror:
            assert row.near_class is not None
            original = by_class[row.near_class]
            mine = decoded(answers[row.url][1])
            other = decoded(answers[original.url][1])
            assert re.sub(rb"<p>Print view \d+</p>\n", b"", mine) == other
            assert mine != other


def test_charsets_and_titles(
    rows: list[Row], answers: dict[str, tuple[Response, Response]]
) -> None:
    for row in rows:
        if row.title is None:
            continue
        response = answers[row.url][1]
        html = decoded(response)
        assert title(html, row.charset) == row.title
        header = re.search("charset=(.*)", response.headers["content-type"])
        assert (header[1] if header else None) == row.charset_header
        meta = re.search(rb"<meta [^>]*charset=[\"']?([\w-]+)", html)
        assert (meta[1].decode() if meta else None) == row.charset_meta
        html.decode(row.charset)


def test_robots_hints(rows: list[Row], answers: dict[str, tuple[Response, Response]]) -> None:
    for row in rows:
        if not row.fetchable or row.trap is not None:
            continue
        response = answers[row.url][1]
        said = re.findall(rb'<meta name="(?:robots|gossamer)" content="([^"]*)"', decoded(response))
        header = response.headers.get("x-robots-tag", "")
        if not header.startswith("otherbot:"):
            said.append(header.removeprefix("gossamer:").encode())
        words = {word.strip().lower() for words in said for word in words.split(b",")}
        assert row.noindex == bool(words & {b"noindex", b"none"})
        assert row.nofollow == bool(words & {b"nofollow", b"none"})


def test_a_naive_walk_finds_what_the_truth_says(
    web: SimWeb, rows: list[Row], answers: dict[str, tuple[Response, Response]]
) -> None:
    """Breadth first over the served pages themselves, with robots by urllib where that suffices."""
    allowed = {row.url: row.allowed for row in rows}
    nofollow = {row.url for row in rows if row.nofollow}
    depth = {web.url: 0}
    queue = [web.url]
    for url in queue:
        if not allowed.get(url, False):
            continue
        response = answers[url][1]
        targets: list[str] = []
        if 300 <= response.status < 400:
            targets = [urljoin(url, response.headers["location"])]
        elif response.status == 200 and url not in nofollow:
            targets = links(url, decoded(response))
        for target in targets:
            # Inside a trap only the entrance is known to the truth.
            if target in allowed and target not in depth:
                depth[target] = depth[url] + 1
                queue.append(target)
    trapped = {row.url for row in rows if row.trap}
    for row in rows:
        if row.url not in trapped:
            assert depth.get(row.url) == row.depth, row


def test_robots_files(web: SimWeb, known: Truth) -> None:
    client = Client()
    kinds = set()
    for host in range(OPTIONS.hosts):
        got = client.get(f"http://{known.model.authority(host)}/robots.txt")
        assert (got.status, got.body) == known.model.robots(host)
        kinds |= {
            got.status,
            got.headers["content-type"],
            len(got.body) > 500 * 1024,
            b"Crawl-delay" in got.body,
            b"*.htm$" in got.body,
            b"Allow" in got.body,
        }
    assert kinds >= {200, 404, 503, "text/html; charset=utf-8", True, False}
    client.close()


def _sitemap_urls(client: Client, url: str) -> list[str]:
    response = client.get(url)
    assert response.status == 200, url
    body = gzip.decompress(response.body) if url.endswith(".gz") else response.body
    found = [loc.replace(b"&amp;", b"&").decode() for loc in re.findall(rb"<loc>(.*?)</loc>", body)]
    if b"<sitemapindex" in body:
        return [page for part in found for page in _sitemap_urls(client, part)]
    return found


def test_sitemaps_list_the_orphans(web: SimWeb, known: Truth, rows: list[Row]) -> None:
    client = Client()
    urls = {row.url for row in rows}
    listed: set[str] = set()
    entries = set()
    for host in range(OPTIONS.hosts):
        authority = known.model.authority(host)
        entry = known.model.sitemap(host)
        _, robots = known.model.robots(host)
        named = re.search(rb"Sitemap: http://[^/]*(/.*)\n", robots)
        if entry is None:
            assert named is None
            assert client.get(f"http://{authority}/sitemap.xml").status == 404
            continue
        entries.add(entry)
        # A crawler can find it: the robots file names it, or it is where everybody looks.
        assert entry == (named[1].decode() if named else "/sitemap.xml")
        listed |= set(_sitemap_urls(client, f"http://{authority}{entry}"))
    assert entries == {"/sitemap.xml", "/sitemap.xml.gz", "/sitemap_index.xml"}
    assert listed <= urls
    assert {row.url for row in rows if row.orphan == "sitemap"} <= listed
    assert not {row.url for row in rows if row.orphan == "path"} & listed
    client.close()


def test_orphans_found_by_path_are_directories_of_linked_pages(rows: list[Row]) -> None:
    linked = {link for row in rows for link in row.links}
    above = {link[: link.rindex("/") + 1] for link in linked}
    for row in rows:
        if row.orphan is not None:
            assert row.depth is None
            assert row.url not in linked
        if row.orphan == "path":
            assert row.url in above


def test_traps_do_not_end(rows: list[Row]) -> None:
    client = Client()
    kinds = set()
    for row in rows:
        if row.trap is None or row.trap in kinds:
            continue
        kinds.add(row.trap)
        seen = {row.url}
        here = row.url
        for _ in range(50):
            response = client.get(here)
            assert response.status == 200
            fresh = [link for link in links(here, response.body) if link not in seen]
            here = fresh[0]
            seen.add(here)
    assert len(kinds) >= 3
    client.close()
