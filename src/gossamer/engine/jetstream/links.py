"""`LinkStream` on JetStream: a subject per partition."""

import asyncio
import secrets
from collections.abc import Mapping, Sequence
from datetime import datetime

import msgspec
import nats.js.errors
from nats.js.api import DiscardPolicy, RetentionPolicy, StorageType, StreamConfig

from gossamer.engine.acknowledgements import acknowledged
from gossamer.engine.jetstream.failures import Fault, explain, explained
from gossamer.engine.jetstream.line import Line, unanswered
from gossamer.engine.jetstream.reader import JetStreamReader
from gossamer.engine.ports import StreamState
from gossamer.errors import EngineEmptyError, EngineError

_IDENTITY = "gossamer_stream_id"


class _Acknowledgement(msgspec.Struct):
    seq: int = 0
    error: Fault | None = None


class _State(msgspec.Struct):
    messages: int
    bytes: int
    first_seq: int
    last_seq: int
    first_ts: datetime


class _Config(msgspec.Struct):
    max_bytes: int = -1
    metadata: dict[str, str] = {}


class _Info(msgspec.Struct):
    config: _Config = msgspec.field(default_factory=_Config)
    state: _State | None = None
    error: Fault | None = None


class JetStreamLinks:
    def __init__(self, line: Line) -> None:
        self._line = line
        self._names = line.names
        self._stream = line.names.links_stream
        self.identity = 0
        self._inbox = ""
        self._token = 0
        self._unacknowledged: dict[str, asyncio.Future[int]] = {}

    async def make(self, *, replicas: int, most_bytes: int) -> int:
        config = StreamConfig(
            name=self._stream,
            subjects=[self._names.links("*")],
            retention=RetentionPolicy.LIMITS,
            storage=StorageType.FILE,
            max_bytes=most_bytes,
            discard=DiscardPolicy.NEW,
            num_replicas=replicas,
            # Receiving twice is harmless; a window of remembered ids would only cost memory.
            duplicate_window=0.1,
            metadata=_new_identity(),
        )
        try:
            await self.state()
        except EngineEmptyError:
            try:
                with explained(f"create stream {self._stream}"):
                    await self._line.stream.add_stream(config)
            except EngineError:
                # Somebody else may have made it at the same moment, with another identity.
                await self.state()
                return self.identity
            await self.state()
        return self.identity

    async def state(self) -> StreamState:
        with explained(f"read stream {self._stream}"):
            # The client's own type leaves the time of the oldest message out.
            data = await self._line.call(f"$JS.API.STREAM.INFO.{self._stream}", b"")
            info = msgspec.json.decode(data, type=_Info, strict=False)
            if info.error is not None or info.state is None:
                raise (info.error or Fault()).raised()
        self.identity = int(info.config.metadata.get(_IDENTITY, "0"))
        state = info.state
        return StreamState(
            self.identity,
            state.first_seq,
            state.last_seq,
            state.messages,
            state.bytes,
            info.config.max_bytes,
            state.first_ts.timestamp() if state.messages else None,
        )

    async def renew(self) -> int:
        with explained("give the stream of links a new identity"):
            info = await self._line.stream.stream_info(self._stream)
            # The server keeps entries of its own there.
            metadata = (info.config.metadata or {}) | _new_identity()
            await self._line.stream.update_stream(info.config.evolve(metadata=metadata))
        await self.state()
        return self.identity

    async def resize(self, most_bytes: int) -> bool:
        with explained("resize the stream of links"):
            info = await self._line.stream.stream_info(self._stream)
            if info.config.max_bytes == most_bytes:
                return False
            await self._line.stream.update_stream(info.config.evolve(max_bytes=most_bytes))
        return True

    async def send(self, partition: int, payload: bytes) -> "asyncio.Future[int]":
        """Like the client's `publish_async`, without a random name, a timer and a parser for each message:
        this is the one call that is made for every few links.
        """
        if not self._inbox:
            inbox = self._line.inbox()
            await self._line.listen(f"{inbox}.*", self._acknowledged)
            self._inbox = inbox
        self._token += 1
        future: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        token = str(self._token)
        self._unacknowledged[token] = future
        future.add_done_callback(lambda _future: self._unacknowledged.pop(token, None))
        try:
            with explained(f"send links for partition {partition}"):
                await self._line.ask(
                    self._names.links(partition), payload, f"{self._inbox}.{token}"
                )
        except EngineError:
            future.cancel()
            raise
        return future

    def _acknowledged(self, subject: str, data: bytes) -> None:
        future = self._unacknowledged.get(subject.rpartition(".")[2])
        if future is None or future.done():
            return
        if not data:
            # The server's word that nobody holds the subject.
            future.set_exception(explain("send links", nats.js.errors.NoStreamResponseError()))
            return
        answer = msgspec.json.decode(data, type=_Acknowledgement)
        if answer.error is None:
            future.set_result(answer.seq)
        else:
            future.set_exception(explain("send links", answer.error.raised()))

    async def sent(self, futures: Sequence["asyncio.Future[int]"]) -> list[EngineError | None]:
        verdicts = await acknowledged(futures)
        if any(isinstance(one, EngineEmptyError) for one in verdicts):
            try:
                reason = await unanswered(self._line, self._stream, "send links")
            except EngineError as error:
                reason = error
            verdicts = [reason if isinstance(one, EngineEmptyError) else one for one in verdicts]
        return verdicts

    async def publish(self, partition: int, payload: bytes) -> int:
        what = f"send links for partition {partition}"
        try:
            with explained(what):
                ack = await self._line.stream.publish(self._names.links(partition), payload)
        except EngineEmptyError as error:
            raise await unanswered(self._line, self._stream, what) from error
        return ack.seq

    async def purge(self, partition: int, up_to: int) -> None:
        if up_to < 1:
            return
        with explained(f"purge links of partition {partition}"):
            await self._line.stream.purge_stream(
                self._stream, seq=up_to + 1, subject=self._names.links(partition)
            )

    async def waiting(self) -> dict[int, int]:
        with explained(f"read stream {self._stream}"):
            info = await self._line.stream.stream_info(
                self._stream, subjects_filter=self._names.links("*")
            )
        found = info.state.subjects or {}
        return {int(subject.rpartition(".")[2]): number for subject, number in found.items()}

    async def reader(self, positions: Mapping[int, tuple[int, int]]) -> JetStreamReader:
        state = await self.state()
        reader = JetStreamReader(self._line, state.identity, positions)
        await reader.open()
        return reader


def _new_identity() -> dict[str, str]:
    return {_IDENTITY: str(secrets.randbits(63) | 1)}
