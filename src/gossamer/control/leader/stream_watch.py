"""The stream of links: its room, freed by snapshots and lent where both would wait for each other; its end.

An engine that does not flush can lose what it acknowledged last, and gives the same numbers out again. Who
has read beyond that would skip what is new. So the stream gets a new identity, and everything is sent again.
"""

import asyncio
from collections.abc import Awaitable, Callable

from gossamer.clock import SYSTEM, Clock
from gossamer.control.leader.backup import Backup
from gossamer.control.leader.live_settings import LiveSettings
from gossamer.control.leader.membership import Membership
from gossamer.control.leader.node_requests import NodeRequests
from gossamer.engine import LinkStream, StreamState
from gossamer.errors import EngineError
from gossamer.logging import logger

_log = logger("stream")

WATCH_EVERY = 2.0
NEARLY = 0.8
"""Of the stream, when nodes are asked for snapshots, which let it forget."""
FULL = 0.9
RELIEF_EVERY = 10.0
LINK_BYTES = 256
"""Of a link in a message of its own: where links wait for room, messages are small at worst."""


class StreamWatch:
    """The leading control node's look at the stream."""

    def __init__(
        self,
        stream: LinkStream,
        *,
        settings: LiveSettings,
        membership: Membership,
        requests: NodeRequests,
        backup: Backup,
        lost: Callable[[], Awaitable[None]],
        clock: Clock = SYSTEM,
    ) -> None:
        """`lost`: called when the stream has lost what it had acknowledged."""
        self._stream = stream
        self._settings = settings
        self._membership = membership
        self._requests = requests
        self._backup = backup
        self._lost = lost
        self._last = (0, 0)
        """Identity of the stream and its last number, as seen last."""
        self._clock = clock
        self._sized = False
        self._watched = 0.0
        self._relieved = 0.0
        self._relief: asyncio.Task[dict[str, object]] | None = None
        self.full = False
        self.messages = self.bytes = 0

    def forget_engine(self) -> None:
        """The engine is a new one."""
        self._sized = False

    async def count(self) -> None:
        """What the stream holds, for the summary."""
        state = await self._stream.state()
        self.messages, self.bytes = state.messages, state.size

    async def round(self, *, keep_oldest: bool) -> None:
        """`keep_oldest`: note how far back links must be sent again, should the engine lose them."""
        size = self._settings.current.cluster.links_bytes
        if not self._sized:
            self._sized = True
            if await self._stream.resize(size):
                _log.info("the stream of links has another bound", bytes=size)
        now = self._clock.monotonic()
        if now - self._watched < WATCH_EVERY:
            return
        self._watched = now
        state = await self._stream.state()
        if self._has_lost(state):
            _log.warning("the engine has lost links that it had acknowledged; they are sent again")
            await self._stream.renew()
            await self._lost()
            return
        await self._relieve(state, size)
        if keep_oldest:
            oldest = self._clock.now() if state.oldest is None else state.oldest
            await asyncio.to_thread(self._backup.set_oldest, oldest)

    def _has_lost(self, state: StreamState) -> bool:
        """It ends before what we, or a node, have seen of it."""
        before, self._last = self._last, (state.identity, state.last)
        nodes = [known.fresh for known in self._membership.nodes.values() if known.fresh]
        return (before[0] == state.identity and state.last < before[1]) or any(
            status.ahead and status.stream == state.identity for status in nodes
        )

    async def _relieve(self, state: StreamState, size: int) -> None:
        """Asks for snapshots before the stream is full, and lends it room for them when it is.

        A snapshot counts only when the links of its pages are in the stream, and the stream forgets
        only what a snapshot covers: full, each would wait for the other. The loan is for the links
        that wait at the nodes, whose number `cluster.backlog` bounds, and there is none when
        snapshots fail: then the stream stays full, which is told, and the nodes wait.
        """
        self.full = state.size > FULL * size
        if state.size > NEARLY * size and self._clock.monotonic() - self._relieved > RELIEF_EVERY:
            self._relieved = self._clock.monotonic()
            if self._relief is None or self._relief.done():
                self._relief = asyncio.create_task(self._requests.snapshot_all())
        if state.size > FULL * state.most and not _failed(self._relief):
            nodes = self._membership.nodes.values()
            waiting = sum(one.fresh.outbox for one in nodes if one.fresh)
            lent = state.size + size // 4 + waiting * LINK_BYTES
            await self._lend(lent, "the stream of links is full: it may hold more for a while")
        elif state.most > size and state.size < size // 2:
            await self._lend(size, "the stream of links has its bound again")

    async def _lend(self, size: int, told: str) -> None:
        try:
            await self._stream.resize(size)
            _log.warning(told, bytes=size)
        except EngineError as error:
            _log.warning("the stream of links cannot be resized", bytes=size, error=str(error))


def _failed(relief: "asyncio.Task[dict[str, object]] | None") -> bool:
    """Some node could not take its snapshots, or it was not known whom to ask."""
    if relief is None or not relief.done():
        return False
    if relief.exception() is not None:
        return True
    return any(isinstance(answer, dict) for answer in relief.result().values())
