"""`RecordStream` in memory."""

from gossamer.engine.memory.kept import KeptStream
from gossamer.engine.memory.parts import Line, stream
from gossamer.engine.ports import KEY_WINDOW, RECORD_BYTES


class MemoryRecords:
    def __init__(self, line: Line, kind: str) -> None:
        self._line = line
        self._name = line.names.record_stream(kind)
        self._subject = line.names.record(kind)
        self._most = RECORD_BYTES[kind]

    async def make(self, *, replicas: int, first: int) -> None:  # noqa: ARG002  there is one server
        streams = self._line.server.streams
        await self._line.change(
            f"create stream {self._name}",
            lambda: streams.setdefault(
                self._name, KeptStream(most=self._most, forgets=True, first=first)
            ),
        )

    async def bounds(self) -> tuple[int, int]:
        what = f"read stream {self._name}"

        def look() -> tuple[int, int]:
            kept = stream(self._line, self._name, what)
            return kept.first, kept.last

        return await self._line.ask(what, look)

    async def append(self, body: bytes, key: str) -> int:
        what, clock = f"keep a record in {self._name}", self._line.server.clock

        def keep() -> int:
            kept = stream(self._line, self._name, what)
            return kept.append_once(self._subject, body, clock.now(), key, KEY_WINDOW)

        return await self._line.change(what, keep, body)

    async def read(self, first: int, last: int) -> list[tuple[int, bytes]]:
        what = f"read records of {self._name}"

        def look() -> list[tuple[int, bytes]]:
            kept = stream(self._line, self._name, what).messages
            return [(n, kept[n].data) for n in range(first, last + 1) if n in kept]

        return await self._line.ask(what, look)
