"""Links that the engine has lost: every node sends again what a wiped engine may have held.

Guarantees: the duty is in the engine before the crawl is known again, so whoever leads next goes on
with it; it is over when every node that owns partitions has sent its links again.
"""

import asyncio
import contextlib
from collections.abc import Callable

from gossamer.cluster.crawl_state import CrawlState
from gossamer.cluster.messages import Duty, decode, encode
from gossamer.control.leader.backup import Backup
from gossamer.control.leader.membership import Membership
from gossamer.control.leader.node_requests import NodeRequests
from gossamer.control.leader.seed_queue import SeedQueue
from gossamer.errors import GossamerError
from gossamer.logging import logger

_log = logger("resend")

MARGIN = 60.0
"""Seconds that links are sent again before the oldest that the engine may have lost."""


class Resend:
    def __init__(
        self,
        state: CrawlState,
        *,
        membership: Membership,
        requests: NodeRequests,
        seeds: SeedQueue,
        backup: Backup,
        done: Callable[[], None],
    ) -> None:
        """`done`: called when everything was sent again."""
        self._state = state
        self._membership = membership
        self._requests = requests
        self._seeds = seeds
        self._backup = backup
        self._done = done
        self._since: float | None = None
        self._sent: set[str] = set()
        self._known = False

    @property
    def pending(self) -> bool:
        """Some node has not sent its links again yet."""
        return self._since is not None

    def read_again(self) -> None:
        """Another control node may have led since: what is to be done is read again."""
        self._known = False

    async def begin(self) -> None:
        """The engine was wiped: all that it may have held is to be sent again."""
        oldest = await asyncio.to_thread(self._backup.oldest)
        self._since, self._sent = max(0.0, (oldest or 0.0) - MARGIN), set()
        await self._seeds.send_all_again()
        await self._write()

    async def round(self) -> None:
        """Asks those who have not sent theirs yet."""
        await self._read()
        value, since = self._state.map, self._since
        if value is None or since is None:
            return
        for name in sorted(value.nodes() - self._sent):
            known = self._membership.nodes.get(name)
            if known is None or known.fresh is None or not known.alive:
                continue
            with contextlib.suppress(GossamerError):
                body = {"since_us": round(since * 1e6)}
                rows = await self._requests.ask(name, "resend", body)
                self._sent.add(name)
                await self._write()
                _log.info("a node sends links again", name=name, rows=rows)
        if value.nodes() <= self._sent:
            self._since = None
            await self._write()
            self._done()

    async def _write(self) -> None:
        duty = Duty(since=self._since, done=sorted(self._sent))
        await self._state.crawls.put("resend", encode(duty))

    async def _read(self) -> None:
        """What an earlier leader had begun."""
        if self._known:
            return
        entry = await self._state.crawls.get("resend")
        if entry is not None:
            duty = decode(entry.value, Duty, "a control node")
            self._since, self._sent = duty.since, set(duty.done)
        self._known = True
