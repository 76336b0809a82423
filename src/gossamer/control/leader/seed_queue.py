"""The seed queue: seeds on their way into the stream of links.

Filled by commands and by the command line, emptied by the leading control node. Guarantees: a seed that
was taken is on disk before it is sent, and is sent when every node knows the roots that come with it.
"""

import asyncio
import contextlib
import itertools
from collections.abc import Callable, Sequence
from typing import Protocol

from gossamer.cluster.crawl_state import CrawlState
from gossamer.cluster.messages import Roots, encode
from gossamer.control.leader.backup import Backup, Seed
from gossamer.control.leader.live_settings import LiveSettings
from gossamer.control.leader.membership import Membership
from gossamer.engine import LinkStream
from gossamer.errors import EngineError
from gossamer.settings import CrawlSettings

ROOTS_PART = 2000
SEEDS_TOGETHER = 1000


class SeedCoder(Protocol):
    """Seeds into messages; native, because it makes URLs."""

    def refusals(self, urls: Sequence[str], settings: CrawlSettings) -> list[str | None]: ...
    def encode(
        self, urls: Sequence[str], settings: CrawlSettings, hops: int = 0
    ) -> list[tuple[int, bytes]]: ...
    def check(self, settings: CrawlSettings) -> None:
        """What only the native part can check (regular expressions, ranges): `ValueError`."""


class SeedQueue:
    """All seeds of the crawl, in order, and how many of them the engine has acknowledged."""

    def __init__(
        self,
        state: CrawlState,
        stream: LinkStream,
        *,
        membership: Membership,
        settings: LiveSettings,
        backup: Backup,
        coder: SeedCoder,
        leading: Callable[[], bool],
        added: Callable[[], None],
    ) -> None:
        """`added`: called when there are new seeds."""
        self._state = state
        self._stream = stream
        self._membership = membership
        self._settings = settings
        self._backup = backup
        self._coder = coder
        self._leading = leading
        self._added = added
        self._seeds: list[Seed] = []
        self._sent = 0
        self._file = asyncio.Lock()
        """What is read from the file must not replace what was added to it meanwhile."""

    def __len__(self) -> int:
        return len(self._seeds)

    def first(self, most: int) -> list[str]:
        """The first seeds of the crawl; targets of redirects are none."""
        return [seed.url for seed in self._seeds[:most] if not seed.hops]

    @property
    def empty(self) -> bool:
        """Everything was sent."""
        return self._sent >= len(self._seeds)

    async def load(self) -> None:
        """What is on disk: another process may have added to it."""
        async with self._file:
            self._seeds = await asyncio.to_thread(self._backup.seeds)
            self._sent = await asyncio.to_thread(self._backup.sent)

    async def send_all_again(self) -> None:
        self._sent = 0
        await asyncio.to_thread(self._backup.set_sent, 0)

    async def add(self, urls: list[str], hops: int = 0) -> list[tuple[str, str]]:
        """Every seed is taken, or refused with a reason; those taken are durable when this ends.

        `hops`: the redirects of other seeds that led to them.
        """
        settings = self._settings.current
        reasons = await asyncio.to_thread(self._coder.refusals, urls, settings)
        taken = [url for url, reason in zip(urls, reasons, strict=True) if reason is None]
        refused = [(u, r) for u, r in zip(urls, reasons, strict=True) if r is not None]
        if taken:
            async with self._file:
                await asyncio.to_thread(self._backup.add_seeds, taken, hops)
                self._seeds += [Seed(url, hops) for url in taken]
            if self._state.crawl is not None and self._leading():
                # They are taken: what does not work now, as when two come at once, `send` does.
                with contextlib.suppress(EngineError):
                    await self._state.refresh()
                    await self._put_roots(taken)
            self._added()
        return refused

    async def put_all_roots(self) -> None:
        """The seeds so far define the scope: every node learns them."""
        await self._put_roots([seed.url for seed in self._seeds])

    async def _put_roots(self, urls: list[str]) -> None:
        for start in range(0, len(urls), ROOTS_PART):
            part = urls[start : start + ROOTS_PART]
            number = self._state.root_parts + start // ROOTS_PART
            await self._state.crawls.create(f"roots.{number}", encode(Roots(urls=part)))

    async def send(self) -> None:
        """Sends what was not sent yet, when every node knows the roots that come with it."""
        state = self._state
        if self.empty or state.map is None:
            return
        # Seeds that were taken before the crawl was known, or while another led, bring theirs now.
        known_roots = set(state.roots)
        unsent = (seed.url for seed in self._seeds[self._sent :])
        missing = [url for url in unsent if url not in known_roots]
        if missing:
            await self._put_roots(missing)
            return
        if not self._roots_are_known(state.map.nodes()):
            return
        for start in range(self._sent, len(self._seeds), SEEDS_TOGETHER):
            some = self._seeds[start : start + SEEDS_TOGETHER]
            for hops, alike in itertools.groupby(some, lambda seed: seed.hops):
                urls = [seed.url for seed in alike]
                for partition, payload in await asyncio.to_thread(
                    self._coder.encode, urls, self._settings.current, hops
                ):
                    await self._stream.publish(partition, payload)
            self._sent = start + len(some)
            await asyncio.to_thread(self._backup.set_sent, self._sent)

    def _roots_are_known(self, nodes: set[str]) -> bool:
        for name in nodes:
            known = self._membership.nodes.get(name)
            if known is None or not known.alive:
                continue
            status = known.fresh
            if status is None or status.roots < self._state.root_parts:
                return False
        return True
