"""The stream of links between partitions: a subject per partition.

Takes: messages of links for a partition. Gives: them to the reader that asks for this partition, in
order, from a position on. Guarantees: acknowledged means kept by as many servers as there are
replicas; a full stream refuses instead of forgetting; a reader never skips a message in silence: a
gap in its numbering makes it begin again at the positions that are safe.
"""

import asyncio
import contextlib
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import msgspec
import nats.errors
import nats.js.errors
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.js.api import (
    AckPolicy,
    ConsumerConfig,
    DeliverPolicy,
    DiscardPolicy,
    RetentionPolicy,
    StorageType,
    StreamConfig,
    StreamInfo,
)

from gossamer.engine.connection import ANSWER_TIMEOUT, Engine
from gossamer.engine.failures import Fault, explain, explained
from gossamer.errors import EngineAwayError, EngineEmptyError, EngineError

ACK_TIMEOUT = 10.0
FETCH = 256
FETCH_WAIT = 0.5
ASK_FOR = 2.0
"""Seconds for which the server keeps a question for messages."""
LOST_AFTER = 5.0
_ENDS = {"404", "408"}
"""A question's time is over, or there is nothing: no fault."""
_SHORT = 9
_IDENTITY = "gossamer_stream_id"

Message = tuple[int, int, int, bytes]
"""Partition, identity of the stream, sequence, payload."""


@dataclass(frozen=True)
class StreamState:
    """What the stream holds now."""

    identity: int
    first: int
    last: int
    messages: int
    size: int
    most: int
    oldest: float | None
    """When the oldest message was sent, in seconds since the epoch."""


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
    config: _Config
    state: _State


class LinkStream:
    """The stream as its makers, senders and owners see it."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._names = engine.names
        self.identity = 0
        self._inbox = ""
        self._token = 0
        self._unacknowledged: dict[str, asyncio.Future[int]] = {}

    async def make(self, *, replicas: int, most_bytes: int) -> int:
        """Creates the stream if it is not there, with a new identity; gives its identity."""
        config = StreamConfig(
            name=self._names.links_stream,
            subjects=[self._names.links("*")],
            retention=RetentionPolicy.LIMITS,
            storage=StorageType.FILE,
            max_bytes=most_bytes,
            discard=DiscardPolicy.NEW,
            num_replicas=replicas,
            # Receiving twice is harmless; a window of remembered ids would only cost memory.
            duplicate_window=0.1,
            metadata={_IDENTITY: str(secrets.randbits(63) | 1)},
        )
        try:
            await self.state()
        except EngineEmptyError:
            with explained(f"create stream {config.name}"):
                info = await self._engine.stream.add_stream(config)
            self.identity = _identity(info)
        return self.identity

    async def state(self) -> StreamState:
        name = self._names.links_stream
        with explained(f"read stream {name}"):
            # The client's own type leaves the time of the oldest message out.
            data = await self._engine.stream._jsm._api_request(  # noqa: SLF001
                f"$JS.API.STREAM.INFO.{name}", timeout=ANSWER_TIMEOUT
            )
        info = msgspec.convert(data, _Info, strict=False)
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

    async def resize(self, most_bytes: int) -> bool:
        """Lets the stream keep more, or less, than it was made for. True: it was changed."""
        with explained("resize the stream of links"):
            info = await self._engine.stream.stream_info(self._names.links_stream)
            if info.config.max_bytes == most_bytes:
                return False
            await self._engine.stream._jsm.update_stream(  # noqa: SLF001
                info.config.evolve(max_bytes=most_bytes)
            )
        return True

    async def send(self, partition: int, payload: bytes) -> "asyncio.Future[int]":
        """Hands a message over; the future ends with its sequence, or an `EngineError`."""
        if not self._inbox:
            inbox = self._engine.inbox()
            await self._engine.listen(f"{inbox}.*", self._acknowledged)
            self._inbox = inbox
        self._token += 1
        future: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        token = str(self._token)
        self._unacknowledged[token] = future
        future.add_done_callback(lambda _future: self._unacknowledged.pop(token, None))
        try:
            with explained(f"send links for partition {partition}"):
                await self._engine.ask(
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
        """Waits for acknowledgements; for each message None, or why it must be sent again."""
        if not futures:
            return []
        _done, late = await asyncio.wait(futures, timeout=ACK_TIMEOUT)
        for future in late:
            future.cancel()
        return [_verdict(future) for future in futures]

    async def publish(self, partition: int, payload: bytes) -> int:
        """Sends one message and waits; gives its sequence."""
        with explained(f"send links for partition {partition}"):
            ack = await self._engine.stream.publish(self._names.links(partition), payload)
        return ack.seq

    async def purge(self, partition: int, up_to: int) -> None:
        """Removes what a snapshot of this partition covers: sequences up to `up_to`."""
        if up_to < 1:
            return
        with explained(f"purge links of partition {partition}"):
            await self._engine.stream._jsm.purge_stream(  # noqa: SLF001
                self._names.links_stream, seq=up_to + 1, subject=self._names.links(partition)
            )

    async def waiting(self) -> dict[int, int]:
        """Messages kept per partition."""
        with explained(f"read stream {self._names.links_stream}"):
            info = await self._engine.stream.stream_info(
                self._names.links_stream, subjects_filter=self._names.links("*")
            )
        found = info.state.subjects or {}
        return {int(subject.rpartition(".")[2]): number for subject, number in found.items()}

    async def reader(self, positions: Mapping[int, tuple[int, int]]) -> "LinkReader":
        """A reader of these partitions, each from its position (stream, sequence) on."""
        state = await self.state()
        reader = LinkReader(self._engine, state.identity, positions)
        await reader.open()
        return reader


class LinkReader:
    """Reads the subjects of some partitions. Made by `LinkStream.reader`; closed by its user.

    At most one batch is asked for ahead of what was taken, so memory is bounded. The client's own way of
    fetching makes a task for each message; here they come as they arrive, and `read` takes all there are.
    """

    def __init__(
        self, engine: Engine, identity: int, positions: Mapping[int, tuple[int, int]]
    ) -> None:
        self._engine = engine
        self._names = engine.names
        self.identity = identity
        self._after = {
            partition: sequence if stream == identity else 0
            for partition, (stream, sequence) in positions.items()
        }
        self._subscription: Subscription | None = None
        self._inbox = ""
        self._consumer = ""
        self._count = 0
        self._arrived: list[Msg] = []
        self._news = asyncio.Event()
        self._asked = 0
        """Messages of the last question that have not come yet."""
        self._asked_until = 0.0
        self._fault = ""
        self._missing: tuple[int, float] | None = None
        """How many had come when it was first seen that more were sent, and when that was."""
        self._connections = engine.connections
        self.broken = not positions
        """Nothing more comes from this reader; make another."""

    async def open(self) -> None:
        if not self._after:
            return
        stream = self._names.links_stream
        start = min(self._after.values()) + 1
        config = ConsumerConfig(
            name=f"reader-{secrets.token_hex(8)}",
            deliver_policy=DeliverPolicy.BY_START_SEQUENCE,
            opt_start_seq=start,
            ack_policy=AckPolicy.NONE,
            filter_subjects=[self._names.links(partition) for partition in sorted(self._after)],
            inactive_threshold=30.0,
            mem_storage=True,
            num_replicas=1,
            max_waiting=4,
        )
        with explained("read links"):
            info = await self._engine.stream._jsm.add_consumer(stream, config)  # noqa: SLF001
            self._consumer = info.name
            self._inbox = self._engine.inbox()
            self._subscription = await self._engine.collect(self._inbox, self._take)
        self.broken = False

    async def close(self) -> None:
        subscription, self._subscription = self._subscription, None
        self.broken = True
        if subscription is None:
            return
        with contextlib.suppress(nats.errors.Error, OSError):
            await subscription.unsubscribe()
        with contextlib.suppress(nats.errors.Error, OSError):
            await self._engine.stream._jsm.delete_consumer(  # noqa: SLF001
                self._names.links_stream, self._consumer
            )

    def _take(self, message: Msg) -> None:
        if message.reply.startswith("$JS.ACK."):
            self._arrived.append(message)
            self._asked -= 1
        else:
            # The server's last word on a question.
            headers = message.headers or {}
            status = headers.get("Status", "")
            self._asked = 0
            if status not in _ENDS:
                self._fault = f"{status} {headers.get('Description', '')}".strip()
        self._news.set()

    async def read(self) -> list[Message]:
        """What has come, after at most half a second; empty: nothing now, or `broken`."""
        if self._engine.connections != self._connections:
            # What was on its way when the line broke is not sent again.
            self.broken = True
        if self._subscription is None or self.broken:
            return []
        try:
            if not self._arrived:
                await self._ask()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(FETCH_WAIT):
                        await self._news.wait()
        except (nats.errors.Error, OSError) as error:
            self.broken = True
            raise explain("read links", error) from error
        self._news.clear()
        if self._fault:
            self.broken = True
            raise EngineAwayError(f"read links: {self._fault}")
        messages, self._arrived = self._arrived, []
        return [row for message in messages if (row := self._row(message)) is not None]

    async def _ask(self) -> None:
        """For more, when all of the last question has come, or its time is over."""
        now = time.monotonic()
        if self._asked > 0 and now < self._asked_until:
            return
        self._asked, self._asked_until = FETCH, now + ASK_FOR + FETCH_WAIT
        question = {"batch": FETCH, "expires": round(ASK_FOR * 1e9)}
        subject = f"$JS.API.CONSUMER.MSG.NEXT.{self._names.links_stream}.{self._consumer}"
        await self._engine.ask(subject, msgspec.json.encode(question), self._inbox)

    def _row(self, message: Msg) -> Message | None:
        stream, consumer = _place(message.reply)
        if consumer != self._count + 1:
            self.broken = True
        if self.broken:
            return None
        self._count = consumer
        partition = int(message.subject.rpartition(".")[2])
        if stream <= self._after[partition]:
            return None
        return partition, self.identity, stream, bytes(message.data)

    async def drained(self) -> bool:
        """Nothing is kept for us in the engine, and all that was sent to us arrived."""
        if self._subscription is None or self.broken:
            return False
        try:
            with explained("read links"):
                info = await self._engine.stream._jsm.consumer_info(  # noqa: SLF001
                    self._names.links_stream, self._consumer
                )
        except EngineError:
            self.broken = True
            raise
        delivered = info.delivered.consumer_seq if info.delivered else 0
        if delivered != self._count:
            # On its way, over a line that may be busy; lost, if nothing comes for long.
            now = time.monotonic()
            if self._missing is None or self._missing[0] != self._count:
                self._missing = (self._count, now)
            idle = not self._arrived and self._subscription.pending_msgs == 0
            self.broken = idle and now - self._missing[1] > LOST_AFTER
            return False
        self._missing = None
        return not info.num_pending


def _place(reply: str) -> tuple[int, int]:
    """Sequence in the stream, and in the consumer: `$JS.ACK.` + stream, consumer, times delivered, both,
    and more; newer servers may name a domain and an account first.
    """
    words = reply.split(".")
    at = 5 if len(words) == _SHORT else 7
    return int(words[at]), int(words[at + 1])


def _identity(info: StreamInfo) -> int:
    return int((info.config.metadata or {}).get(_IDENTITY, "0"))


def _verdict(future: "asyncio.Future[int]") -> EngineError | None:
    if future.cancelled():
        return EngineAwayError("send links: no answer in time")
    error = future.exception()
    return error if isinstance(error, EngineError) or error is None else explain("send", error)
