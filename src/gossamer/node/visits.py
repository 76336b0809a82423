"""Visits without a frontier: batches of URLs in, batches of results out, awaitable.

For link checkers, tests and benchmarks: no robots, no politeness of its own, so the caller decides
whom it may visit. A crawl uses the native node instead, which holds the same pool.

Takes URLs; gives a result for each, exactly once. Guarantees: at most `most` visits are held,
whatever the caller does; leaving `visit` early or being cancelled gives its visits up, and leaving
the `async with` ends every thread and leaves only whole WARC records.
"""

import asyncio
import contextlib
import os
from collections.abc import AsyncGenerator, Iterable
from itertools import islice
from pathlib import Path
from typing import Self

from gossamer import _native
from gossamer.node.native_settings import to_native
from gossamer.settings import CrawlSettings

BATCH = 256
# With many visits open, an arrival is answered this much later: a page's share of waking the loop,
# a thread and the file is then small. With few open, somebody may be waiting for each.
LINGER = 0.005
MANY = 64


class Visits:
    """A pool and the WARC files it writes. At most `most` visits are under way."""

    def __init__(
        self, settings: CrawlSettings, warc: Path | None = None, *, most: int = 1024
    ) -> None:
        if most < 1:
            raise ValueError("most: at least one visit must be possible")
        self._settings = settings
        self._warc = warc
        self._most = most
        self._pool: _native.FetcherPool | None = None
        self._arrived = asyncio.Event()
        self._next = 0
        self._visiting = False
        self._collecting: asyncio.Task[list[_native.Visited]] | None = None

    async def __aenter__(self) -> Self:
        self._pool = await asyncio.to_thread(
            _native.FetcherPool, to_native(self._settings), self._warc
        )
        asyncio.get_running_loop().add_reader(self._pool.fileno(), self._on_bell)
        return self

    async def __aexit__(self, *_: object) -> None:
        pool, self._pool = self._pool, None
        if pool is not None:
            asyncio.get_running_loop().remove_reader(pool.fileno())
            collecting, self._collecting = self._collecting, None
            if collecting is not None:
                await asyncio.gather(collecting, return_exceptions=True)
            await asyncio.to_thread(pool.close)

    @property
    def pool(self) -> _native.FetcherPool:
        if self._pool is None:
            raise RuntimeError("use `async with`")
        return self._pool

    async def visit(
        self, urls: Iterable[str], *, keep_body: bool = False
    ) -> AsyncGenerator[list[_native.Visited], None]:
        """Visits every URL once and yields results in batches as they come.

        Never more than `most` URLs are taken from `urls` ahead of the results. A URL that cannot be
        visited at all raises ValueError. One call at a time: a second one raises RuntimeError.
        """
        if self._visiting:
            raise RuntimeError("another visit is under way")
        self._visiting = True
        try:
            waiting = iter(urls)
            mine: set[int] = set()
            exhausted = False
            while mine or not exhausted:
                if not exhausted:
                    exhausted = not self._fill(waiting, mine, keep_body)
                if not mine and exhausted:
                    return
                results = await self._gather(linger=len(mine) > MANY)
                # Those of a call that was left early are still to come; they are not ours.
                results = [result for result in results if result.id in mine]
                mine.difference_update(result.id for result in results)
                if results:
                    yield results
        finally:
            self._visiting = False

    def _fill(self, waiting: Iterable[str], mine: set[int], keep_body: bool) -> bool:
        """Submits as many as there is room for. False: there are no more URLs."""
        pool = self.pool
        while room := max(self._most - pool.in_flight, 0):
            batch = [(self._number(), url) for url in islice(waiting, min(room, BATCH))]
            if not batch:
                return False
            refusals = pool.submit(batch, keep_body=keep_body)
            for (number, url), refused in zip(batch, refusals, strict=True):
                if refused is not None:
                    raise ValueError(f"{url}: {refused}")
                mine.add(number)
        return True

    async def _gather(self, *, linger: bool) -> list[_native.Visited]:
        if self._collecting is None:
            await self._arrived.wait()
            if linger:
                await asyncio.sleep(LINGER)
            self._arrived.clear()
            self._collecting = asyncio.create_task(asyncio.to_thread(self.pool.collect, BATCH, 0.0))
        collecting = self._collecting
        try:
            # A thread cannot be cancelled: what it takes is kept for the next who asks.
            results = await asyncio.shield(collecting)
        finally:
            if collecting.done():
                self._collecting = None
        if len(results) == BATCH:
            self._arrived.set()
        return results

    def _on_bell(self) -> None:
        # Read at once: left full, it would wake the loop without end while the caller is busy.
        with contextlib.suppress(BlockingIOError):
            os.read(self.pool.fileno(), 8)
        self._arrived.set()

    def _number(self) -> int:
        self._next += 1
        return self._next
