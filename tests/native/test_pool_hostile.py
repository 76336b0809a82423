"""Every misbehaviour through the whole pool: the right outcome in time, and it goes on."""

from __future__ import annotations

import asyncio
import gzip
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import brotli
import pytest
import zstandard
from tests.native.hostile_server import Handler, HostileServer, endless, send
from tests.native.pool_seam import check_digests, check_warc, settings
from tests.native.test_fetch_hostile import BOMB, CASES, GZIP, PAGE, page

from gossamer._native import Visited
from gossamer.node.visits import Visits

# Wider than the fetcher's own tests: all cases run at once here, and the server is in Python.
TOTAL = 12.0
FETCH: dict[str, Any] = {
    "connect_timeout": "6s",
    "tls_timeout": "6s",
    "first_byte_timeout": "6s",
    "stall_timeout": "4s",
    "total_timeout": f"{TOTAL}s",
    "max_body": 200_000,
    "max_ratio": 200,
    "types": [],
}
# A size limit of four times the body's comes first for some of them here; judged below.
BOMBS = {"gzip bomb", "nested gzip bomb", "br bomb", "zstd bomb"}


@pytest.fixture(scope="module")
def server() -> Iterator[HostileServer]:
    routes = {f"/{number}": case.handler for number, case in enumerate(CASES)}
    with HostileServer(routes) as running:  # type: ignore[arg-type]
        yield running


async def visit_all(urls: list[str], warc: Path | None = None, **fetch: Any) -> dict[int, Visited]:
    """The results in the order of the URLs."""
    async with Visits(settings(**FETCH | fetch), warc) as visits:
        results = [v async for batch in visits.visit(urls, keep_body=True) for v in batch]
    return {visited.id - 1: visited for visited in results}


async def test_each_case_ends_in_its_outcome(server: HostileServer, tmp_path: Path) -> None:
    """Three visits of each, all at once."""
    numbers = [n for n in range(len(CASES)) for _ in range(3)]
    begun = time.monotonic()
    results = await visit_all([server.url(f"/{n}") for n in numbers], tmp_path)
    assert time.monotonic() - begun < 30
    assert len(results) == len(numbers)
    wrong = []
    for at, number in enumerate(numbers):
        case, visited = CASES[number], results[at]
        assert visited.seconds < TOTAL + 1.0, case.name
        assert len(visited.body or b"") <= 4 * 200_000, case.name
        if case.name in BOMBS:
            assert visited.outcome in {"encoding_broken", "truncated"}, case.name
        elif visited.outcome != case.outcome:
            wrong.append((case.name, case.outcome, visited.outcome, visited.detail))
        elif case.body is not None:
            assert visited.body == case.body, case.name
        # A page is stored, an answer that never came is not.
        assert (len(visited.records) == 2) == (visited.status != 0), case.name
    assert not wrong
    assert check_digests(tmp_path)


async def test_bombs_end_by_their_ratio() -> None:
    codings = {
        "gzip": gzip.compress(BOMB),
        "gzip, gzip": gzip.compress(gzip.compress(BOMB)),
        "br": brotli.compress(BOMB),
        "zstd": zstandard.compress(BOMB),
    }
    routes = {
        f"/{n}": send(page(body, b"Content-Encoding: " + coding.encode()))
        for n, (coding, body) in enumerate(codings.items())
    }
    with HostileServer(routes) as server:
        results = await visit_all([server.url(path) for path in routes], max_body="5MB")
    assert {v.outcome for v in results.values()} == {"encoding_broken"}


async def test_huge_redirect_targets() -> None:
    def redirect(size: int) -> Handler:
        target = b"http://example.org/" + b"a" * size
        return send(b"HTTP/1.1 301 Moved\r\nLocation: %s\r\n\r\n" % target)

    routes = {"/10": redirect(10), "/60000": redirect(60_000)}
    routes["/endless"] = endless(b"HTTP/1.1 301 M\r\nLocation: http://", b"a" * 999)
    with HostileServer(routes) as server:
        small, large, never = (await visit_all([server.url(path) for path in routes])).values()
        by_url = {v.url.rsplit("/", 1)[1]: v for v in (small, large, never)}
    assert by_url["10"].outcome == "redirected"
    assert by_url["10"].links == ["http://example.org/" + "a" * 10]
    assert (by_url["60000"].outcome, by_url["60000"].links) == ("redirected", [])
    assert by_url["endless"].outcome == "protocol_broken"


async def test_the_pool_goes_on_beside_servers_that_hang(server: HostileServer) -> None:
    slow = [n for n, case in enumerate(CASES) if case.outcome == "timed_out"]
    plain = next(n for n, case in enumerate(CASES) if case.name == "plain")
    async with Visits(settings(**FETCH)) as visits:
        urls = [server.url(f"/{n}") for n in slow * 10] + [server.url(f"/{plain}")] * 20
        begun, times = time.monotonic(), []
        async for batch in visits.visit(urls, keep_body=True):
            times += [time.monotonic() - begun for v in batch if v.outcome == "fetched"]
            assert all(v.body == PAGE for v in batch if v.outcome == "fetched")
        await asyncio.sleep(0)
    assert len(times) == 20
    assert time.monotonic() - begun < 20


async def test_gzip_in_the_files_is_as_it_was_sent(tmp_path: Path) -> None:
    sent = gzip.compress(PAGE)
    with HostileServer(default=send(page(sent, GZIP))) as server:
        [visited] = (await visit_all([server.url()], tmp_path)).values()
    assert visited.body == PAGE
    [path] = check_warc(tmp_path)
    name, offset, length = visited.records[0]
    assert name == path.name
    assert sent in gzip.decompress(path.read_bytes()[offset : offset + length])
