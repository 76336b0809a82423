"""The pool's seam: batches in, batches out, awaitable, bounded, and leaving nothing behind."""

from __future__ import annotations

import asyncio
import itertools
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from tests.native.hostile_server import HostileServer, send, then_silence
from tests.native.pool_seam import check_warc, pool_threads, settings
from warcio.archiveiterator import ArchiveIterator

from gossamer._native import FetcherPool
from gossamer.node.native_settings import to_native
from gossamer.node.visits import Visits
from gossamer.simweb import Options, SimWeb, serve, truth

BODY = b"<a href=/x>x</a>" + b" " * 1_000_000
LARGE = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(BODY) + BODY
)


@pytest.fixture(scope="module")
def web() -> Iterator[SimWeb]:
    with serve(Options(hosts=20, pages=600, port=0)) as running:
        yield running


@pytest.fixture(scope="module")
def slow() -> Iterator[SimWeb]:
    with serve(Options(hosts=20, pages=600, port=0, latency="50ms")) as running:
        yield running


@pytest.fixture(scope="module")
def far() -> Iterator[SimWeb]:
    """Waiting is most of a visit, also on a machine that is busy otherwise."""
    with serve(Options(hosts=20, pages=600, port=0, latency="200ms")) as running:
        yield running


@pytest.fixture(autouse=True)
def _no_thread_stays() -> Iterator[None]:
    yield
    assert pool_threads() == 0


async def test_every_url_is_answered_exactly_once(web: SimWeb) -> None:
    urls = truth(web.options).urls * 3
    answered: Counter[str] = Counter()
    numbers: set[int] = set()
    async with Visits(settings(), most=100) as visits:
        async for batch in visits.visit(urls):
            for visited in batch:
                assert (visited.outcome, visited.status) == ("fetched", 200), visited.detail
                answered[visited.url] += 1
                numbers.add(visited.id)
        assert visits.pool.in_flight == 0
    assert answered == Counter(urls)
    assert len(numbers) == len(urls)


async def test_nothing_to_visit_ends_at_once() -> None:
    async with Visits(settings()) as visits:
        assert [batch async for batch in visits.visit([])] == []


async def test_never_more_than_most_under_way(slow: SimWeb) -> None:
    most, taken, answered, widest = 30, 0, 0, 0
    known = truth(slow.options).urls

    def urls() -> Iterator[str]:
        nonlocal taken, widest
        for url in known[:300]:
            taken += 1
            widest = max(widest, taken - answered)
            yield url

    async with Visits(settings(), most=most) as visits:
        async for batch in visits.visit(urls()):
            answered += len(batch)
            assert visits.pool.in_flight <= most
            # A caller that takes its time holds the pool back, it does not fill the memory.
            await asyncio.sleep(0.02)
    assert answered == 300
    assert widest == most


async def test_memory_is_bounded_by_the_visits_under_way() -> None:
    def resident() -> int:
        status = Path("/proc/self/status").read_text()
        return int(status.split("RssAnon:")[1].split()[0]) // 1024

    with HostileServer(default=send(LARGE)) as server:
        async with Visits(settings(), most=8) as visits:
            before, most = resident(), 0
            async for batch in visits.visit(
                (server.url(f"/{n}") for n in range(300)), keep_body=True
            ):
                assert {visited.body for visited in batch} == {BODY}
                most = max(most, resident() - before)
                await asyncio.sleep(0.01)
    # 300 bodies are 300 MB; eight of them with all their copies are far below a third of that.
    assert most < 100, f"{most} MB"


async def test_bodies_come_only_on_request(web: SimWeb) -> None:
    async with Visits(settings()) as visits:
        [[without]] = [batch async for batch in visits.visit([web.url])]
        [[with_body]] = [batch async for batch in visits.visit([web.url], keep_body=True)]
    assert without.body is None
    assert with_body.body is not None
    assert len(with_body.body) == without.bytes == with_body.bytes
    assert without.links == with_body.links != []


async def test_the_event_loop_rests_while_the_caller_is_busy(web: SimWeb) -> None:
    async with Visits(settings()) as visits:
        async for _ in visits.visit(truth(web.options).urls[:400]):
            # Answers go on arriving; each of them may wake the loop once, not for ever.
            begun = time.thread_time()
            await asyncio.sleep(0.5)
            assert time.thread_time() - begun < 0.2


async def test_a_url_that_is_none_is_named_and_the_pool_goes_on(web: SimWeb) -> None:
    async with Visits(settings()) as visits:
        with pytest.raises(ValueError, match=r"mailto:a@b.example: "):
            async for _ in visits.visit([web.url, "mailto:a@b.example"]):
                pass
        results = [v async for batch in visits.visit([web.url]) for v in batch]
    assert [visited.url for visited in results] == [web.url]


async def test_one_visit_at_a_time(slow: SimWeb) -> None:
    async with Visits(settings()) as visits:
        first = visits.visit([slow.url])
        beginning = asyncio.ensure_future(anext(first))
        await asyncio.sleep(0)
        with pytest.raises(RuntimeError, match="under way"):
            await anext(visits.visit([slow.url]))
        assert len(await beginning) == 1
        await first.aclose()


async def test_a_cancelled_visit_takes_nothing_from_the_next(slow: SimWeb, tmp_path: Path) -> None:
    known = truth(slow.options).urls
    before = asyncio.all_tasks()

    async def run(visits: Visits, urls: Iterable[str]) -> list[str]:
        return [visited.url async for batch in visits.visit(urls) for visited in batch]

    async with Visits(settings(), tmp_path, most=64) as visits:
        for pause in (0.0, 0.02, 0.06, 0.11, 0.3):
            task = asyncio.create_task(run(visits, itertools.cycle(known[:300])))
            await asyncio.sleep(pause)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert sorted(await run(visits, known[300:400])) == sorted(known[300:400])
    assert asyncio.all_tasks() == before
    check_warc(tmp_path)


async def test_leaving_early_gives_the_rest_up(slow: SimWeb) -> None:
    known = truth(slow.options).urls
    async with Visits(settings(), most=64) as visits:
        async for _ in visits.visit(known):
            break
        begun = time.monotonic()
    assert time.monotonic() - begun < 20


@pytest.mark.parametrize("after", [0.0, 0.05, 0.2, 0.7])
async def test_closing_in_the_middle_leaves_whole_records(
    web: SimWeb, tmp_path: Path, after: float
) -> None:
    urls = itertools.cycle(truth(web.options).urls)
    stored: list[str] = []

    async def run(visits: Visits) -> None:
        async for batch in visits.visit(urls):
            stored.extend(visited.url for visited in batch if visited.records)

    async with Visits(settings(fsync="batch"), tmp_path) as visits:
        task = asyncio.create_task(run(visits))
        await asyncio.sleep(after)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert pool_threads() == 0
    kinds: Counter[str] = Counter()
    found: Counter[str] = Counter()
    for path in check_warc(tmp_path):
        with path.open("rb") as file:
            for record in ArchiveIterator(file, check_digests="raise"):
                record.content_stream().read()
                kinds[record.rec_type] += 1
                if record.rec_type == "response":
                    found[record.rec_headers.get_header("WARC-Target-URI")] += 1
    assert kinds["request"] == kinds["response"]
    # What was given to us is in the files.
    assert not Counter(stored) - found


def test_close_ends_a_collect_that_waits() -> None:
    with HostileServer(default=then_silence()) as server:
        pool = FetcherPool(to_native(settings()), None)
        pool.submit([(n, server.url(f"/{n}")) for n in range(20)])
        got: list[str] = []
        about_to = threading.Event()

        def collect() -> None:
            about_to.set()
            got.extend(visited.outcome for visited in pool.collect(100, 90.0))

        waiting = threading.Thread(target=collect)
        waiting.start()
        about_to.wait()
        # Nobody can tell that it waits: by now it does.
        time.sleep(0.5)
        pool.close()
        waiting.join(30)
        assert not waiting.is_alive()
    assert set(got) <= {"deferred"}
    with pytest.raises(RuntimeError, match="closed"):
        pool.collect(1, 0.0)
    with pytest.raises(RuntimeError, match="closed"):
        pool.submit([(1, "http://127.0.0.1/")])
    pool.close()


def test_stopping_gives_every_visit_back() -> None:
    with HostileServer(default=then_silence()) as server:
        pool = FetcherPool(to_native(settings()), None)
        pool.submit([(n, server.url(f"/{n}")) for n in range(50)])
        time.sleep(0.1)
        pool.stop(now=True)
        results = []
        while pool.in_flight:
            results += pool.collect(7, 1.0)
        pool.close()
    assert sorted(visited.id for visited in results) == list(range(50))
    assert {visited.outcome for visited in results} == {"deferred"}


async def test_concurrency_stays_as_told(slow: SimWeb) -> None:
    async with Visits(settings(concurrency=20)) as visits:
        seen = {visits.pool.concurrency}
        async for _ in visits.visit(truth(slow.options).urls[:300]):
            seen.add(visits.pool.concurrency)
    assert seen == {20}


async def test_concurrency_adapts(far: SimWeb) -> None:
    end = time.monotonic() + 90
    async with Visits(settings(concurrency=0)) as visits:
        seen = {visits.pool.concurrency}
        async for _ in visits.visit(itertools.cycle(truth(far.options).urls)):
            seen.add(visits.pool.concurrency)
            # 200 ms of waiting per visit leave room for more than the 64 it begins with.
            if (len(seen) > 2 and max(seen) > 64) or time.monotonic() > end:
                break
    assert len(seen) > 2
    assert max(seen) > 64
