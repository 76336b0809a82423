"""Visits without a frontier: batches of URLs in, batches of results out, awaitable.

For link checkers, tests and benchmarks: no robots, no politeness of its own, so the caller decides
whom it may visit. A crawl uses the native node instead, which holds the same engine.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable
from itertools import islice
from pathlib import Path
from typing import Self

from gossamer import _native
from gossamer.node.handover import native_settings
from gossamer.settings import CrawlSettings

BATCH = 256


class Visits:
    """An engine and the WARC files it writes. At most `most` visits are under way."""

    def __init__(
        self, settings: CrawlSettings, warc: Path | None = None, *, most: int = 1024
    ) -> None:
        self._settings = settings
        self._warc = warc
        self._most = most
        self._engine: _native.Engine | None = None
        self._arrived = asyncio.Event()
        self._next = 0

    async def __aenter__(self) -> Self:
        self._engine = await asyncio.to_thread(
            _native.Engine, native_settings(self._settings), self._warc
        )
        asyncio.get_running_loop().add_reader(self._engine.fileno(), self._arrived.set)
        return self

    async def __aexit__(self, *_: object) -> None:
        engine, self._engine = self._engine, None
        if engine is not None:
            asyncio.get_running_loop().remove_reader(engine.fileno())
            await asyncio.to_thread(engine.close)

    @property
    def engine(self) -> _native.Engine:
        if self._engine is None:
            raise RuntimeError("use `async with`")
        return self._engine

    async def visit(
        self, urls: Iterable[str], *, keep_body: bool = False
    ) -> AsyncIterator[list[_native.Visited]]:
        """Visits every URL once and yields results in batches as they come.

        Never more than `most` URLs are taken from `urls` ahead of the results. A URL that cannot be
        visited at all raises ValueError.
        """
        waiting = iter(urls)
        engine = self.engine
        open_visits = 0
        exhausted = False
        while not exhausted or open_visits:
            room = self._most - open_visits
            if not exhausted and room > 0:
                batch = [(self._number(), url) for url in islice(waiting, min(room, BATCH))]
                exhausted = not batch
                answers = engine.submit(batch, keep_body=keep_body)
                for (_, url), refused in zip(batch, answers, strict=True):
                    if refused is not None:
                        raise ValueError(f"{url}: {refused}")
                open_visits += len(batch)
                if len(batch) == BATCH and room > BATCH:
                    continue
            if not open_visits:
                continue
            await self._arrived.wait()
            self._arrived.clear()
            results = await asyncio.to_thread(engine.collect, BATCH, 0.0)
            if len(results) == BATCH:
                self._arrived.set()
            open_visits -= len(results)
            if results:
                yield results

    def _number(self) -> int:
        self._next += 1
        return self._next
