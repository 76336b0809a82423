"""`LinkStream` in memory."""

import asyncio
from collections.abc import Mapping, Sequence

from gossamer.engine.acknowledgements import acknowledged
from gossamer.engine.memory.kept import KeptStream, NoRoomError, new_identity
from gossamer.engine.memory.parts import Line, stream
from gossamer.engine.memory.reader import MemoryReader
from gossamer.engine.ports import StreamState
from gossamer.errors import EngineEmptyError, EngineError, EngineFullError


class MemoryLinks:
    def __init__(self, line: Line) -> None:
        self._line = line
        self._names = line.names
        self._name = line.names.links_stream
        self.identity = 0

    async def make(self, *, replicas: int, most_bytes: int) -> int:  # noqa: ARG002  one server
        streams = self._line.server.streams
        kept = await self._line.change(
            f"create stream {self._name}",
            lambda: streams.setdefault(self._name, KeptStream(most=most_bytes)),
        )
        self.identity = kept.identity
        return self.identity

    async def state(self) -> StreamState:
        what = f"read stream {self._name}"

        def look() -> StreamState:
            kept = stream(self._line, self._name, what)
            oldest = kept.messages[kept.first].time if kept.messages else None
            count, most = len(kept.messages), kept.most or -1
            return StreamState(kept.identity, kept.first, kept.last, count, kept.size, most, oldest)

        found = await self._line.ask(what, look)
        self.identity = found.identity
        return found

    async def renew(self) -> int:
        what = "give the stream of links a new identity"

        def change() -> int:
            kept = stream(self._line, self._name, what)
            kept.identity = new_identity()
            return kept.identity

        self.identity = await self._line.change(what, change)
        return self.identity

    async def resize(self, most_bytes: int) -> bool:
        what = "resize the stream of links"

        def change() -> bool:
            kept = stream(self._line, self._name, what)
            changed, kept.most = kept.most != most_bytes, most_bytes
            return changed

        return await self._line.change(what, change)

    def _keep(self, what: str, partition: int, payload: bytes) -> int:
        kept, now = stream(self._line, self._name, what), self._line.server.clock.now()
        subject = self._names.links(partition)
        try:
            if self._line.server.faults.twice:
                kept.append(subject, payload, now)
            return kept.append(subject, payload, now)
        except NoRoomError:
            raise EngineFullError(f"{what}: maximum bytes exceeded") from None

    async def send(self, partition: int, payload: bytes) -> "asyncio.Future[int]":
        what, faults = "send links", self._line.server.faults
        self._line.check(f"{what} for partition {partition}", payload)
        future: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        def acknowledge(number: int) -> None:
            if self._line.connected and not future.done():
                future.set_result(number)

        def arrive() -> None:
            if not self._line.connected or faults.electing:
                return
            try:
                if faults.full:
                    raise EngineFullError(f"{what}: insufficient storage resources available")  # noqa: TRY301
                number = self._keep(what, partition, payload)
            except (EngineFullError, EngineEmptyError) as error:
                if not future.done():
                    future.set_exception(error)
                return
            if not faults.take_lost_answer():
                self._line.later(lambda: acknowledge(number))

        self._line.later(arrive)
        return future

    async def sent(self, futures: Sequence["asyncio.Future[int]"]) -> list[EngineError | None]:
        return await acknowledged(futures)

    async def publish(self, partition: int, payload: bytes) -> int:
        what = f"send links for partition {partition}"
        return await self._line.change(what, lambda: self._keep(what, partition, payload), payload)

    async def purge(self, partition: int, up_to: int) -> None:
        what, subject = f"purge links of partition {partition}", self._names.links(partition)

        def change() -> None:
            kept = stream(self._line, self._name, what)
            for message in list(kept.messages.values()):
                if message.sequence > up_to:
                    break
                if message.subject == subject:
                    kept.remove(message.sequence)

        await self._line.change(what, change)

    async def waiting(self) -> dict[int, int]:
        what = f"read stream {self._name}"
        found = await self._line.ask(what, lambda: stream(self._line, self._name, what).subjects())
        return {int(subject.rpartition(".")[2]): number for subject, number in found.items()}

    async def reader(self, positions: Mapping[int, tuple[int, int]]) -> MemoryReader:
        state = await self.state()
        reader = MemoryReader(self._line, state.identity, positions)
        await reader.open()
        return reader
