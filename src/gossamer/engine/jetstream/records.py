"""`RecordStream` on JetStream: one subject; the engine's sequence is the number of a record."""

import asyncio

import nats.js.errors
from nats.js.api import DiscardPolicy, Header, RetentionPolicy, StorageType, StreamConfig

from gossamer.engine.jetstream.failures import explained
from gossamer.engine.jetstream.line import Line, unanswered
from gossamer.engine.ports import KEY_WINDOW, RECORD_BYTES
from gossamer.errors import EngineEmptyError

_NO_MESSAGE = 10037


class JetStreamRecords:
    def __init__(self, line: Line, kind: str) -> None:
        self._line = line
        self._name = line.names.record_stream(kind)
        self._subject = line.names.record(kind)
        self._most = RECORD_BYTES[kind]

    async def make(self, *, replicas: int, first: int) -> None:
        config = StreamConfig(
            name=self._name,
            subjects=[self._subject],
            retention=RetentionPolicy.LIMITS,
            storage=StorageType.FILE,
            max_bytes=self._most,
            discard=DiscardPolicy.OLD,
            num_replicas=replicas,
            duplicate_window=KEY_WINDOW,
            first_seq=first,
        )
        try:
            await self.bounds()
        except EngineEmptyError:
            with explained(f"create stream {self._name}"):
                await self._line.stream.add_stream(config)

    async def bounds(self) -> tuple[int, int]:
        with explained(f"read stream {self._name}"):
            info = await self._line.stream.stream_info(self._name)
        return info.state.first_seq, info.state.last_seq

    async def append(self, body: bytes, key: str) -> int:
        what = f"keep a record in {self._name}"
        try:
            with explained(what):
                ack = await self._line.stream.publish(
                    self._subject, body, stream=self._name, headers={Header.MSG_ID: key}
                )
        except EngineEmptyError as error:
            raise await unanswered(self._line, self._name, what) from error
        return ack.seq

    async def read(self, first: int, last: int) -> list[tuple[int, bytes]]:
        numbers = range(first, last + 1)
        bodies = await asyncio.gather(*map(self._get, numbers))
        return [(n, body) for n, body in zip(numbers, bodies, strict=True) if body is not None]

    async def _get(self, number: int) -> bytes | None:
        with explained(f"read record {number} of {self._name}"):
            try:
                message = await self._line.stream.get_msg(self._name, seq=number)
            except nats.js.errors.NotFoundError as error:
                # Forgotten meanwhile, because the stream is full. A stream that is gone is an error.
                if error.err_code != _NO_MESSAGE:
                    raise
                return None
        return message.data or b""
