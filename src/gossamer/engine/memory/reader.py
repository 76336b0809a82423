"""`LinkReader` in memory."""

import asyncio
import contextlib
from collections.abc import Mapping

from gossamer.engine.memory.kept import Kept
from gossamer.engine.memory.parts import Line, stream
from gossamer.engine.ports import IDLE_READER, READ_MOST, READ_WAIT, Message
from gossamer.errors import EngineAwayError, EngineEmptyError


class MemoryReader:
    def __init__(self, line: Line, identity: int, positions: Mapping[int, tuple[int, int]]) -> None:
        self._line = line
        self._name = line.names.links_stream
        self.identity = identity
        self._after = {
            partition: sequence if found == identity else 0
            for partition, (found, sequence) in positions.items()
        }
        self._next = min(self._after.values(), default=0) + 1
        self._connections = line.connections
        self._known = line.server.readers
        self._asked = line.server.clock.monotonic()
        self.broken = not positions

    async def open(self) -> None:
        await self._line.change("read links", lambda: stream(self._line, self._name, "read links"))

    async def close(self) -> None:
        self.broken = True

    def _forgotten(self) -> bool:
        clock, server = self._line.server.clock, self._line.server
        return self._known != server.readers or clock.monotonic() - self._asked > IDLE_READER

    async def read(self) -> list[Message]:
        if self._line.connections != self._connections:
            self.broken = True
        if self.broken:
            return []
        if not self._line.connected:
            self.broken = True
            raise EngineAwayError("read links: not connected")
        if self._forgotten():
            self.broken = True
            raise EngineAwayError("read links: 409 Consumer Deleted")
        self._asked = self._line.server.clock.monotonic()
        if not self._has_come():
            await self._wait()
        await asyncio.sleep(self._line.server.faults.delay)
        # What was on its way when the line broke is not sent again.
        if self._line.connections != self._connections or not self._line.connected:
            self.broken = True
            return []
        return self._take()

    def _open_now(self) -> bool:
        return not self._line.server.faults.electing and not self._forgotten()

    def _has_come(self) -> bool:
        return self._open_now() and any(True for _ in self._ahead())

    def _ahead(self) -> "list[Kept]":
        kept = self._line.server.streams.get(self._name)
        if kept is None:
            return []
        found = []
        for sequence in range(self._next, kept.last + 1):
            message = kept.messages.get(sequence)
            if message is not None and self._partition(message) in self._after:
                found.append(message)
                if len(found) == READ_MOST:
                    break
        return found

    def _partition(self, message: Kept) -> int:
        return int(message.subject.rpartition(".")[2])

    async def _wait(self) -> None:
        kept = self._line.server.streams.get(self._name)
        news = asyncio.Event()
        waiting = kept.waiting if kept is not None else set()
        waiting.add(news.set)
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(READ_WAIT):
                    while not self._has_come():
                        news.clear()
                        await news.wait()
        finally:
            waiting.discard(news.set)

    def _take(self) -> list[Message]:
        messages = self._ahead() if self._open_now() else []
        if messages:
            self._next = messages[-1].sequence + 1
        rows = ((self._partition(message), message) for message in messages)
        return [
            (partition, self.identity, message.sequence, message.data)
            for partition, message in rows
            if message.sequence > self._after[partition]
        ]

    async def drained(self) -> bool:
        if self.broken:
            return False
        try:
            return await self._line.ask("read links", self._is_drained)
        except BaseException:
            self.broken = True
            raise

    def _is_drained(self) -> bool:
        if self._forgotten():
            raise EngineEmptyError("read links: consumer not found")
        return not self._ahead()
