"""A stream of records: what happened, in one order for everybody, numbered by the engine.

Takes: a record with a key. Gives: its number; records by number. Guarantees: acknowledged means kept
by as many servers as there are replicas; a record that is sent again with its key within `AGAIN` is
kept once; when the stream is full the oldest records go.
"""

import asyncio

import nats.js.errors
from nats.js.api import DiscardPolicy, Header, RetentionPolicy, StorageType, StreamConfig

from gossamer.engine.connection import Engine
from gossamer.engine.failures import explained
from gossamer.errors import EngineEmptyError

AGAIN = 600.0
"""Seconds in which the engine knows a key again."""

MOST_BYTES = {"events": 32 << 20, "submissions": 64 << 20, "audit": 64 << 20}
"""What each kind of record may take in the engine."""


class RecordStream:
    """The records of one kind."""

    def __init__(self, engine: Engine, kind: str) -> None:
        self._engine = engine
        self._name = engine.names.record_stream(kind)
        self._subject = engine.names.record(kind)
        self._most = MOST_BYTES[kind]

    async def make(self, *, replicas: int, first: int) -> None:
        """Creates the stream if it is not there; its first record will have this number."""
        config = StreamConfig(
            name=self._name,
            subjects=[self._subject],
            retention=RetentionPolicy.LIMITS,
            storage=StorageType.FILE,
            max_bytes=self._most,
            discard=DiscardPolicy.OLD,
            num_replicas=replicas,
            duplicate_window=AGAIN,
            first_seq=first,
        )
        try:
            await self.bounds()
        except EngineEmptyError:
            with explained(f"create stream {self._name}"):
                await self._engine.stream.add_stream(config)

    async def bounds(self) -> tuple[int, int]:
        """The numbers of the first and the last record."""
        with explained(f"read stream {self._name}"):
            info = await self._engine.stream.stream_info(self._name)
        return info.state.first_seq, info.state.last_seq

    async def append(self, body: bytes, key: str) -> int:
        """Keeps a record; gives its number."""
        with explained(f"keep a record in {self._name}"):
            ack = await self._engine.stream.publish(
                self._subject, body, stream=self._name, headers={Header.MSG_ID: key}
            )
        return ack.seq

    async def read(self, first: int, last: int) -> list[tuple[int, bytes]]:
        """The records with these numbers, as far as they are still kept; not many at a time."""
        numbers = range(first, last + 1)
        bodies = await asyncio.gather(*map(self._get, numbers))
        return [(n, body) for n, body in zip(numbers, bodies, strict=True) if body is not None]

    async def _get(self, number: int) -> bytes | None:
        with explained(f"read record {number} of {self._name}"):
            try:
                message = await self._engine.stream.get_msg(self._name, seq=number)
            except nats.js.errors.NotFoundError as error:
                # Forgotten meanwhile, because the stream is full. A stream that is gone is an error.
                if error.err_code != _NO_MESSAGE:
                    raise
                return None
        return message.data or b""


_NO_MESSAGE = 10037
