"""What the engine must hold about the crawl: made at the beginning, put back if the engine lost it.

Guarantees: changes are compare-and-sets or creations, so two control nodes do each other no harm; what
this control node saw last is in its backup, from where an engine that was wiped gets it again.
"""

import asyncio
import contextlib
from collections.abc import Callable

from gossamer.clock import SYSTEM, Clock
from gossamer.cluster.assignment import encode_assignment, merge_held, new_assignment
from gossamer.cluster.crawl_state import CrawlState
from gossamer.cluster.messages import Crawl, Held, Message, Resume, Roots, encode
from gossamer.cluster.shared_settings import write_settings
from gossamer.control.leader.backup import BackedUp, Backup
from gossamer.control.leader.live_settings import LiveSettings
from gossamer.control.leader.membership import Membership
from gossamer.control.leader.resend import Resend
from gossamer.control.leader.seed_queue import SeedQueue
from gossamer.engine import LinkStream
from gossamer.errors import ConflictError, EngineEmptyError
from gossamer.logging import logger

_log = logger("restore")

LISTEN = 1.5
"""Seconds in which every living node has sent a status."""


class Restore:
    def __init__(
        self,
        crawl: str,
        state: CrawlState,
        stream: LinkStream,
        *,
        settings: LiveSettings,
        membership: Membership,
        seeds: SeedQueue,
        resend: Resend,
        backup: Backup,
        wiped: Callable[[], None],
        clock: Clock = SYSTEM,
    ) -> None:
        """`wiped`: called when the engine turns out to be a new one."""
        self._crawl = crawl
        self._state = state
        self._stream = stream
        self._settings = settings
        self._membership = membership
        self._seeds = seeds
        self._resend = resend
        self._backup = backup
        self._wiped = wiped
        self._clock = clock

    async def make_leader_bucket(self) -> bool:
        """In a new engine the bucket that decides who leads comes first. False: it is there."""
        if await self._state.crawls.exists():
            return False
        await self._state.crawls.make(self._settings.current.cluster.replicas)
        return True

    async def round(self) -> None:
        """Creates what is missing; from our backup, if the engine lost it."""
        state, cluster = self._state, self._settings.current.cluster
        if state.crawl is not None:
            with contextlib.suppress(EngineEmptyError):
                if await self._complete():
                    return
        for bucket in (state.crawls, state.nodes, state.maps):
            await bucket.make(cluster.replicas)
        await self._stream.make(replicas=cluster.replicas, most_bytes=cluster.links_bytes)
        if await self._complete():
            return
        kept = await asyncio.to_thread(self._backup.load)
        if kept is None:
            await self._begin()
        else:
            await self._put_back(kept)

    async def _complete(self) -> bool:
        state = self._state
        return (
            await state.crawls.get("crawl") is not None and await state.maps.get("map") is not None
        )

    async def _begin(self) -> None:
        settings = self._settings.current
        crawl = Crawl(
            name=self._crawl,
            created=self._clock.now(),
            partitions=settings.partitions,
            settings=write_settings(settings),
        )
        await self._create("wanted", Resume(since=self._clock.now()))
        await self._create("held", Held(nodes=[]))
        # There may be roots of a beginning that was cut short; what is missing comes with the seeds.
        with contextlib.suppress(ConflictError):
            await self._seeds.put_all_roots()
        with contextlib.suppress(ConflictError):
            value = new_assignment(crawl.partitions)
            await self._state.maps.create("map", encode_assignment(value))
        await self._create("crawl", crawl)

    async def _create(self, key: str, message: Message) -> None:
        with contextlib.suppress(ConflictError):
            await self._state.crawls.create(key, encode(message))

    async def _put_back(self, kept: BackedUp) -> None:
        """Into an engine that lost everything. What living nodes say they hold is newer."""
        _log.warning("the engine has lost this crawl; putting it back from DIR/control")
        self._wiped()
        await asyncio.sleep(LISTEN)
        held = {
            known.name: status.partitions
            for known in self._membership.nodes.values()
            if (status := known.fresh) is not None
        }
        value = merge_held(kept.assignment(), held)
        await self._create("wanted", kept.wanted)
        await self._create("held", Held(nodes=kept.held))
        for number, urls in enumerate(kept.roots):
            await self._create(f"roots.{number}", Roots(urls=urls))
        # Before the crawl is known again: from then on it could be taken for whole.
        await self._resend.begin()
        with contextlib.suppress(ConflictError):
            await self._state.maps.create("map", encode_assignment(value))
        await self._create("crawl", kept.crawl)
        self._state.forget_revisions()

    async def keep(self) -> None:
        """What was read last, into the backup."""
        state = self._state
        if state.crawl is not None and state.map is not None:
            await asyncio.to_thread(
                self._backup.save,
                state.crawl,
                state.wanted,
                state.held,
                state.root_lists,
                state.map,
            )
