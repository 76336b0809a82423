"""Stage 9 across machines: links leave for other nodes' partitions, and those for ours arrive.

Whether a link leaves is decided in `rust/core/src/node/exchange.rs`, and kept in `rust/core/src/exchange/`.
`Sender` takes messages from the native node and publishes them; a message is forgotten by the node
only when the engine has acknowledged it, and given back if not. `Receiver` reads the subjects of the
partitions that are held here and hands messages to the node, which stores them together with their
positions; the engine keeps no account of what we read. Guarantees: at least once; nothing in memory
but one window of messages each way. A full stream or a slow node makes both wait.
"""

import asyncio
import contextlib
from collections.abc import Callable
from typing import Protocol

from gossamer.clock import SYSTEM, Clock
from gossamer.engine import LinkReader, LinkStream, Message
from gossamer.errors import EngineError, EngineFullError

WINDOW = 128
"""Messages published ahead of their acknowledgements."""

IDLE = 0.02
TROUBLE = 0.5
"""Seconds until the next try after the engine refused or did not answer."""

CHECK_EVERY = 0.5

QUIET = 60.0
"""Seconds for which a wait of links is not told again."""


class Outbox(Protocol):
    """What the sender needs of the native node."""

    def outgoing(self, most: int) -> list[tuple[int, int, int, bytes]]: ...
    def acknowledge(self, tokens: list[int]) -> None: ...
    def give_back(self, tokens: list[int]) -> None: ...


class Inbox(Protocol):
    """What the receiver needs of the native node."""

    def generation(self) -> int: ...
    def receive(self, generation: int, messages: list[Message]) -> int: ...
    def partitions(self) -> list[tuple[int, int]]: ...
    def frozen(self) -> list[int]: ...
    def positions(self) -> dict[int, tuple[int, int]]: ...


Tell = Callable[[str], None]


def _to_nobody(_text: str) -> None: ...


class Sender:
    """Publishes what is due, for as long as it runs.

    `tell` is called when links begin to wait, for each kind of error at most once in `QUIET`
    seconds: a wait may be over before anybody looks at `trouble`.
    """

    def __init__(
        self,
        node: Outbox,
        stream: LinkStream,
        clock: Clock = SYSTEM,
        tell: Tell = _to_nobody,
    ) -> None:
        self._node = node
        self._stream = stream
        self._clock = clock
        self._tell = tell
        self._told: dict[type[EngineError], float] = {}
        self.messages = 0
        self.links = 0
        self.bytes = 0
        self.trouble = ""
        """Why links wait, if they do: for people."""

    async def run(self) -> None:
        while True:
            try:
                sent = await self.round()
            except EngineError as error:
                self.trouble = f"links wait: {error}"
                self._tell_once(error)
                await asyncio.sleep(TROUBLE)
                continue
            if not sent:
                await asyncio.sleep(IDLE)

    def _tell_once(self, error: EngineError) -> None:
        now, kind = self._clock.monotonic(), type(error)
        if now - self._told.get(kind, -QUIET) >= QUIET:
            self._told[kind] = now
            self._tell(self.trouble)

    async def round(self) -> int:
        """One window; gives how many messages were acknowledged. Raises the first refusal."""
        due = self._node.outgoing(WINDOW)
        if not due:
            return 0
        futures: list[asyncio.Future[int]] = []
        try:
            for _token, partition, _links, payload in due:
                futures.append(await self._stream.send(partition, payload))
        except BaseException:
            await self._settle(due, futures)
            raise
        refused = await self._settle(due, futures)
        if refused is not None:
            raise refused
        self.trouble = ""
        return len(due)

    async def _settle(
        self, due: list[tuple[int, int, int, bytes]], futures: list["asyncio.Future[int]"]
    ) -> EngineError | None:
        """Tells the node of each message whether it is safe; gives the first refusal."""
        done = False
        safe: list[int] = []
        try:
            verdicts = await self._stream.sent(futures)
            for (token, _partition, links, payload), verdict in zip(due, verdicts, strict=False):
                if verdict is None:
                    safe.append(token)
                    self.messages += 1
                    self.links += links
                    self.bytes += len(payload)
            done = True
        finally:
            if safe:
                self._node.acknowledge(safe)
            known = set(safe)
            rest = [token for token, *_ in due if token not in known]
            if rest:
                self._node.give_back(rest)
        refusals = [verdict for verdict in verdicts if verdict is not None] if done else []
        full = [one for one in refusals if isinstance(one, EngineFullError)]
        return (full or refusals or [None])[0]


class Receiver:
    """Reads what is for the partitions held here, for as long as it runs."""

    def __init__(self, node: Inbox, stream: LinkStream, clock: Clock = SYSTEM) -> None:
        self._node = node
        self._stream = stream
        self._clock = clock
        self._reader: LinkReader | None = None
        self._generation = -1
        self._newest: dict[int, int] = {}
        self._checked = 0.0
        self.identity = 0
        self.read_to = 0
        """All of the stream up to this sequence that is for us is safe in our store."""
        self.ahead = False
        """What is stored was read from a stream that has lost its end since: its numbers come again."""
        self.messages = 0
        self.trouble = ""

    async def run(self) -> None:
        try:
            while True:
                try:
                    await self.round()
                except EngineError as error:
                    self.trouble = f"links cannot be read: {error}"
                    self._generation = -1
                    await asyncio.sleep(TROUBLE)
        finally:
            await self._drop()

    async def _drop(self) -> None:
        reader, self._reader = self._reader, None
        if reader is not None:
            with contextlib.suppress(EngineError):
                await reader.close()

    async def round(self) -> None:
        if self._stale() or self._reader is None or self._reader.broken:
            await self._renew()
        if self._reader is None:
            # Nothing is held here; look again whether that is still so, and how far the stream is.
            await asyncio.sleep(CHECK_EVERY / 4)
            return
        messages = await self._reader.read()
        self.trouble = ""
        if messages:
            await self._hand_over(messages)
        if not messages or self._clock.monotonic() - self._checked > CHECK_EVERY:
            await self._check()

    def _stale(self) -> bool:
        """Partitions came or went: a new reader must be made, from the positions that are safe."""
        return self._generation != self._node.generation()

    async def _renew(self) -> None:
        await self._drop()
        self.read_to = 0
        # First the generation: what changes after it is noticed.
        self._generation = self._node.generation()
        positions = await asyncio.to_thread(self._positions)
        self._newest = {}
        state = await self._stream.state()
        self.identity = state.identity
        self.ahead = any(
            stream == state.identity and sequence > state.last
            for stream, sequence in positions.values()
        )
        if positions:
            self._reader = await self._stream.reader(positions)
            self.identity = self._reader.identity
        else:
            self.read_to = state.last

    def _positions(self) -> dict[int, tuple[int, int]]:
        """Of what is stored, not of what was handed over: what is between may be lost."""
        frozen = set(self._node.frozen())
        safe = self._node.positions()
        return {
            partition: safe.get(partition, (0, 0))
            for partition, _epoch in self._node.partitions()
            if partition not in frozen
        }

    async def _hand_over(self, messages: list[Message]) -> None:
        place = 0
        while place < len(messages) and not self._stale():
            taken = self._node.receive(self._generation, messages[place:])
            for partition, _stream, sequence, _payload in messages[place : place + taken]:
                self._newest[partition] = sequence
            place += taken
            self.messages += taken
            if place < len(messages):
                await asyncio.sleep(IDLE)

    async def _check(self) -> None:
        """Moves `read_to`, when nothing is kept for us and all we were given is stored."""
        self._checked = self._clock.monotonic()
        if self._reader is None:
            return
        last = (await self._stream.state()).last
        if self._stream.identity != self.identity:
            self._generation = -1
            return
        if not await self._reader.drained():
            return
        positions = await asyncio.to_thread(self._node.positions)
        unsafe = [
            partition
            for partition, sequence in self._newest.items()
            if not _covers(positions.get(partition), (self.identity, sequence))
        ]
        if not unsafe and not self._stale():
            self.read_to = last


def _covers(position: tuple[int, int] | None, place: tuple[int, int]) -> bool:
    return position is not None and position[0] == place[0] and position[1] >= place[1]
