"""`LinkReader` on JetStream: a consumer in the engine that we ask for messages.

At most one batch is asked for ahead of what was taken, so memory is bounded. The client's own way of
fetching makes a task for each message; here they come as they arrive, and `read` takes all there are.
"""

import asyncio
import contextlib
import secrets
from collections.abc import Mapping

import msgspec
import nats.errors
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy

from gossamer.engine.jetstream.failures import explain, explained
from gossamer.engine.jetstream.line import Line
from gossamer.engine.ports import IDLE_READER, READ_MOST, READ_WAIT, Message
from gossamer.errors import EngineAwayError, EngineError

ASK_FOR = 2.0
"""Seconds for which the server keeps a question for messages."""
LOST_AFTER = 5.0
_ENDS = {"404", "408"}
"""A question's time is over, or there is nothing: no fault."""
_SHORT = 9


class JetStreamReader:
    def __init__(self, line: Line, identity: int, positions: Mapping[int, tuple[int, int]]) -> None:
        self._line = line
        self._names = line.names
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
        self._connections = line.connections
        self.broken = not positions

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
            inactive_threshold=IDLE_READER,
            mem_storage=True,
            num_replicas=1,
            max_waiting=4,
        )
        with explained("read links"):
            info = await self._line.stream.add_consumer(stream, config)
            self._consumer = info.name
            self._inbox = self._line.inbox()
            self._subscription = await self._line.collect(self._inbox, self._take)
        self.broken = False

    async def close(self) -> None:
        subscription, self._subscription = self._subscription, None
        self.broken = True
        if subscription is None:
            return
        with contextlib.suppress(nats.errors.Error, OSError):
            await subscription.unsubscribe()
        with contextlib.suppress(nats.errors.Error, OSError):
            await self._line.stream.delete_consumer(self._names.links_stream, self._consumer)

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
        if self._line.connections != self._connections:
            # What was on its way when the line broke is not sent again.
            self.broken = True
        if self._subscription is None or self.broken:
            return []
        try:
            if not self._arrived:
                await self._ask()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(READ_WAIT):
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
        now = self._line.clock.monotonic()
        if self._asked > 0 and now < self._asked_until:
            return
        self._asked, self._asked_until = READ_MOST, now + ASK_FOR + READ_WAIT
        question = {"batch": READ_MOST, "expires": round(ASK_FOR * 1e9)}
        subject = f"$JS.API.CONSUMER.MSG.NEXT.{self._names.links_stream}.{self._consumer}"
        await self._line.ask(subject, msgspec.json.encode(question), self._inbox)

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
        if self._subscription is None or self.broken:
            return False
        try:
            with explained("read links"):
                info = await self._line.stream.consumer_info(
                    self._names.links_stream, self._consumer
                )
        except EngineError:
            self.broken = True
            raise
        delivered = info.delivered.consumer_seq if info.delivered else 0
        if delivered != self._count:
            # On its way, over a line that may be busy; lost, if nothing comes for long.
            now = self._line.clock.monotonic()
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
