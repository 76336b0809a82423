"""The ports: what the rest of the program may use of an engine, whichever one it is.

Two implementations: `jetstream` (NATS JetStream, for real) and `memory` (within one process, for tests).
Both pass `tests/contract/engine`. Every call can raise an `EngineError`; by its kind the caller knows what
to do: `EngineAwayError` try again, `EngineEmptyError` make what is missing, `EngineFullError` wait,
`ConflictError` read again, `EngineRefusedError` ask the operator.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from gossamer.engine.names import Names
from gossamer.errors import EngineError

ANSWER_TIMEOUT = 5.0
"""Seconds that an answer may take, unless the asker says otherwise."""
ACK_TIMEOUT = 10.0
"""Seconds that an acknowledgement of links may take."""
READ_WAIT = 0.5
"""Seconds that a reader waits for links."""
READ_MOST = 256
"""Messages that a reader asks for at a time."""
IDLE_READER = 30.0
"""Seconds after which the engine forgets a reader that does not ask."""
KEY_WINDOW = 600.0
"""Seconds in which the engine knows the key of a record again."""

RECORD_BYTES = {"events": 32 << 20, "submissions": 64 << 20, "audit": 64 << 20}
"""What each kind of record may take in the engine."""

Handler = Callable[[bytes], Awaitable[bytes | None]]
"""None: no answer from us; somebody else may have one."""

Listener = Callable[[str, bytes], None]
"""Called with the subject and the message."""

End = Callable[[], Awaitable[None]]
"""Ends what was begun: listening, answering."""

Message = tuple[int, int, int, bytes]
"""Partition, identity of the stream, sequence, payload."""


@dataclass(frozen=True)
class Entry:
    """A value in a bucket. Revisions of a bucket grow; those of two keys never are the same."""

    key: str
    value: bytes
    revision: int


@dataclass(frozen=True)
class StreamState:
    """What the stream of links holds now."""

    identity: int
    first: int
    last: int
    messages: int
    size: int
    most: int
    oldest: float | None
    """When the oldest message was sent, in seconds since the epoch."""


class Bucket(Protocol):
    """A key-value bucket with compare-and-set.

    Guarantees: `create` and `update` succeed for exactly one of those who try with the same revision; `get`
    never gives an older value than one that was acknowledged. Keys do not expire: what is old is for the
    reader's own clock to say.
    """

    @property
    def name(self) -> str: ...

    async def exists(self) -> bool: ...

    async def make(self, replicas: int) -> None:
        """Creates the bucket if it is not there."""

    async def get(self, key: str) -> Entry | None:
        """The last value, or None. A bucket that is not there is an `EngineEmptyError`."""

    async def create(self, key: str, value: bytes) -> int:
        """Sets a key that must not be there; gives the revision. `ConflictError`: it is there."""

    async def update(self, key: str, value: bytes, revision: int) -> int:
        """Replaces exactly this revision; gives the new one. `ConflictError`: it is another."""

    async def put(self, key: str, value: bytes) -> int:
        """Sets a key whatever it was."""

    async def delete(self, key: str, revision: int) -> None:
        """Removes exactly this revision. `ConflictError`: it is another."""

    async def change(self, key: str, value: bytes, revision: int | None) -> int:
        """`update`, or `create` where there was none."""

    async def keys(self) -> list[str]:
        """The keys that were ever set, sorted; one that was deleted may be among them."""

    async def hints(self, wake: Callable[[], None], *but: str) -> End:
        """Calls whenever somebody tries to change a value: a reason to read, nothing more.

        `but`: keys whose changes are no reason. A hint can be missed while the line is down; it goes on
        by itself when the line is up again.
        """


class LinkReader(Protocol):
    """Reads the links of some partitions, in order. Made by `LinkStream.reader`; closed by its user.

    Guarantees: no message is skipped in silence. Where one may have been, the reader is `broken`.
    """

    identity: int
    broken: bool
    """Nothing more comes from this reader; make another."""

    async def read(self) -> list[Message]:
        """What has come, after at most `READ_WAIT`; empty: nothing now, or `broken`."""

    async def drained(self) -> bool:
        """Nothing is kept for us in the engine, and all that was sent to us arrived."""

    async def close(self) -> None: ...


class LinkStream(Protocol):
    """The stream of links between partitions, as its makers, senders and owners see it.

    Guarantees: acknowledged means kept by as many servers as there are replicas; a full stream refuses
    instead of forgetting.
    """

    identity: int
    """Of the stream that was seen last; a new one has another."""

    async def make(self, *, replicas: int, most_bytes: int) -> int:
        """Creates the stream if it is not there, with a new identity; gives its identity."""

    async def state(self) -> StreamState: ...

    async def renew(self) -> int:
        """Gives the stream another identity: positions in it mean nothing any more, all is read again.

        For a stream that lost what it had acknowledged: it gives the same numbers out twice.
        """

    async def resize(self, most_bytes: int) -> bool:
        """Lets the stream keep more, or less, than it was made for. True: it was changed."""

    async def send(self, partition: int, payload: bytes) -> "asyncio.Future[int]":
        """Hands a message over; the future ends with its sequence, or an `EngineError`."""

    async def sent(self, futures: Sequence["asyncio.Future[int]"]) -> list[EngineError | None]:
        """Waits for acknowledgements; for each message None, or why it must be sent again."""

    async def publish(self, partition: int, payload: bytes) -> int:
        """Sends one message and waits; gives its sequence."""

    async def purge(self, partition: int, up_to: int) -> None:
        """Removes what a snapshot of this partition covers: sequences up to `up_to`."""

    async def waiting(self) -> dict[int, int]:
        """Messages kept per partition."""

    async def reader(self, positions: Mapping[int, tuple[int, int]]) -> LinkReader:
        """A reader of these partitions, each from its position (stream, sequence) on."""


class RecordStream(Protocol):
    """Records of one kind: what happened, in one order for everybody, numbered by the engine.

    Guarantees: acknowledged means kept by as many servers as there are replicas; a record that is sent
    again with its key within `KEY_WINDOW` is kept once; when the stream is full the oldest records go.
    """

    async def make(self, *, replicas: int, first: int) -> None:
        """Creates the stream if it is not there; its first record will have this number."""

    async def bounds(self) -> tuple[int, int]:
        """The numbers of the first and the last record; where there is none the last is before the first."""

    async def append(self, body: bytes, key: str) -> int:
        """Keeps a record; gives its number."""

    async def read(self, first: int, last: int) -> list[tuple[int, bytes]]:
        """The records with these numbers, as far as they are still kept; not many at a time."""


class Engine(Protocol):
    """One process's line to the engine.

    Guarantees: once open, it is kept up for ever. While it is down every call fails at once instead of
    being kept for later: a message that leaves after its sender lost its lease would be worse than none.
    """

    names: Names
    connections: int
    """Grows with each reconnection: what was under way before may be lost."""

    @property
    def connected(self) -> bool: ...

    async def close(self) -> None: ...

    async def publish(self, subject: str, payload: bytes) -> None:
        """To whoever listens now."""

    async def request(self, subject: str, payload: bytes, seconds: float = ANSWER_TIMEOUT) -> bytes:
        """The first answer. `NoResponderError`: nobody is there; `EngineAwayError`: no answer in time."""

    async def serve(self, subject: str, handler: Handler) -> End:
        """Answers requests, several at a time, until the function that is given back is called.

        From now on; while the line is down, from when it is up again.
        """

    async def listen(self, subject: str, listener: Listener) -> End:
        """Calls with every message, in order, until the function that is given back is called.

        From now on; while the line is down, from when it is up again.
        """

    def bucket(self, name: str) -> Bucket: ...

    def links(self) -> LinkStream: ...

    def records(self, kind: str) -> RecordStream: ...
