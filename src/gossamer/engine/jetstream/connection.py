"""One process's line to NATS. Made by `opening.connect`."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

import nats.errors
import nats.js.errors
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.js import JetStreamContext

from gossamer.clock import Clock
from gossamer.engine.jetstream.bucket import JetStreamBucket
from gossamer.engine.jetstream.failures import explained
from gossamer.engine.jetstream.internals import search
from gossamer.engine.jetstream.links import JetStreamLinks
from gossamer.engine.jetstream.records import JetStreamRecords
from gossamer.engine.names import Names
from gossamer.engine.ports import ANSWER_TIMEOUT, End, Handler, Listener
from gossamer.engine.tasks import end


class JetStreamEngine:
    """`Engine` on NATS."""

    def __init__(self, names: Names, client: Client, clock: Clock) -> None:
        self.names = names
        self.clock = clock
        self._client = client
        self.stream: JetStreamContext = client.jetstream(timeout=ANSWER_TIMEOUT)
        self.connections = 1
        self._answering: set[asyncio.Task[None]] = set()
        self.denied = ""
        """The last refusal, which the server tells apart from the call that was refused."""

    @property
    def connected(self) -> bool:
        return self._client.is_connected

    @property
    def server_version(self) -> tuple[int, int, int]:
        found = self._client.connected_server_version
        return found.major, found.minor, found.patch

    async def close(self) -> None:
        with contextlib.suppress(nats.errors.Error, OSError):
            await self._client.close()
        # While the engine is away the client tries to reach it again, and closing may not end that.
        searching = search(self._client)
        if searching is not None:
            await end([searching])

    async def publish(self, subject: str, payload: bytes) -> None:
        with explained(f"publish {subject}"):
            await self._client.publish(subject, payload)

    async def request(self, subject: str, payload: bytes, seconds: float = ANSWER_TIMEOUT) -> bytes:
        with explained(f"ask {subject}"):
            answer = await self._client.request(subject, payload, timeout=seconds)
            return bytes(answer.data)

    async def serve(self, subject: str, handler: Handler) -> End:
        async def respond(message: Msg) -> None:
            answer = await handler(bytes(message.data))
            if message.reply and answer is not None:
                with contextlib.suppress(nats.errors.Error):
                    await message.respond(answer)

        async def begin(message: Msg) -> None:
            # A slow answer must not hold up the next question.
            task = asyncio.create_task(respond(message))
            self._answering.add(task)
            task.add_done_callback(self._answering.discard)

        return (await self._subscribe(subject, begin)).unsubscribe

    async def listen(self, subject: str, listener: Listener) -> End:
        async def note(message: Msg) -> None:
            listener(message.subject, bytes(message.data))

        return (await self._subscribe(subject, note)).unsubscribe

    async def _subscribe(
        self, subject: str, take: Callable[[Msg], Awaitable[None]]
    ) -> Subscription:
        with explained(f"listen to {subject}"):
            subscription = await self._client.subscribe(subject, cb=take)
        if self.connected:
            # Until the server has heard of it, what others send is lost. A line that breaks now says it again.
            # Twice: the client's first question overtakes what waits to be written, as this does.
            with contextlib.suppress(nats.errors.Error, TimeoutError, OSError):
                await self._client.flush(round(ANSWER_TIMEOUT))
                await self._client.flush(round(ANSWER_TIMEOUT))
        return subscription

    def bucket(self, name: str) -> JetStreamBucket:
        return JetStreamBucket(self, name)

    def links(self) -> JetStreamLinks:
        return JetStreamLinks(self)

    def records(self, kind: str) -> JetStreamRecords:
        return JetStreamRecords(self, kind)

    # --- for the parts of this folder, which explain the client's errors themselves

    async def call(self, subject: str, payload: bytes) -> bytes:
        """Asks JetStream."""
        try:
            answer = await self._client.request(subject, payload, timeout=ANSWER_TIMEOUT)
        except nats.errors.NoRespondersError as error:
            # It is JetStream that is away, not somebody of ours.
            raise nats.js.errors.ServiceUnavailableError from error
        return bytes(answer.data)

    def inbox(self) -> str:
        """A subject of our own, for answers."""
        return self._client.new_inbox()

    async def ask(self, subject: str, payload: bytes, answer_to: str) -> None:
        """Publishes; the answer comes to a subject that is listened to."""
        await self._client.publish(subject, payload, reply=answer_to)

    async def collect(self, subject: str, taker: Callable[[Msg], None]) -> Subscription:
        """Calls with every message, as the client has it, until the subscription is ended."""

        async def note(message: Msg) -> None:
            taker(message)

        return await self._subscribe(subject, note)
