"""One process's line to an engine in memory."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from gossamer.engine.memory.bucket import MemoryBucket
from gossamer.engine.memory.links import MemoryLinks
from gossamer.engine.memory.records import MemoryRecords
from gossamer.engine.memory.server import MemoryServer, Subscription
from gossamer.engine.names import Names
from gossamer.engine.ports import ANSWER_TIMEOUT, End, Handler, Listener
from gossamer.errors import EngineAwayError, EngineError, EngineFullError, NoResponderError

T = TypeVar("T")

RECONNECT = 0.25
"""Seconds until a line is up again after its server is."""


async def connect(server: MemoryServer, crawl: str, who: str) -> "MemoryEngine":
    """A line for one process, or `EngineAwayError`."""
    if not server.running:
        raise EngineAwayError("no engine answers (memory: it is stopped)")
    line = MemoryEngine(server, Names(crawl), who)
    server.came(line)
    return line


class MemoryEngine:
    """`Engine` within one process. `cut` and `mend` are faults of this line alone."""

    def __init__(self, server: MemoryServer, names: Names, who: str) -> None:
        self.names = names
        self.server = server
        self.who = who
        self.connections = 1
        self._up = True
        self._cut = self._closed = False
        self._coming: asyncio.TimerHandle | None = None
        self._answering: set[asyncio.Task[None]] = set()

    @property
    def connected(self) -> bool:
        return self._up

    async def close(self) -> None:
        self._closed = True
        self.look()
        self.server.left(self)

    # --- faults

    def cut(self) -> None:
        """Nothing passes any more, in either direction."""
        self._cut = True
        self.look()

    def mend(self) -> None:
        self._cut = False
        self.look()

    def look(self) -> None:
        reachable = self.server.running and not self._cut and not self._closed
        if self._coming is not None:
            self._coming.cancel()
            self._coming = None
        if not reachable:
            self._up = False
        elif not self._up:
            self._coming = asyncio.get_running_loop().call_later(RECONNECT, self._come_back)

    def _come_back(self) -> None:
        self._coming = None
        self._up = True
        self.connections += 1

    # --- messages

    def check(self, what: str, payload: bytes = b"") -> None:
        """Raises what a real client does before anything leaves."""
        if not self._up:
            raise EngineAwayError(f"{what}: not connected")
        if len(payload) > self.server.max_payload:
            raise EngineError(f"{what}: larger than the engine's max_payload")

    def later(self, call: Callable[[], object]) -> None:
        """At the far end of the line; in order."""
        loop = asyncio.get_running_loop()
        delay = self.server.faults.delay / 2
        if delay:
            loop.call_later(delay, call)
        else:
            loop.call_soon(call)

    async def publish(self, subject: str, payload: bytes) -> None:
        self.check(f"publish {subject}", payload)
        self.later(lambda: self._up and self.server.pass_on(subject, payload))

    async def request(self, subject: str, payload: bytes, seconds: float = ANSWER_TIMEOUT) -> bytes:
        what = f"ask {subject}"
        self.check(what, payload)
        first: asyncio.Future[bytes | None] = asyncio.get_running_loop().create_future()

        def note(answer: bytes | None) -> None:
            if not first.done() and self._up:
                first.set_result(answer)

        def arrive() -> None:
            there = self._up and self.server.pass_on(
                subject, payload, lambda answer: self.later(lambda: note(answer))
            )
            if self._up and not there:
                note(None)

        self.later(arrive)
        try:
            async with asyncio.timeout(seconds):
                answer = await first
        except TimeoutError:
            raise EngineAwayError(f"{what}: no answer in time") from None
        if answer is None:
            raise NoResponderError(f"{what}: nobody answers there")
        return answer

    async def serve(self, subject: str, handler: Handler) -> End:
        async def respond(data: bytes, answer_to: Callable[[bytes], None] | None) -> None:
            answer = await handler(data)
            if answer is not None and answer_to is not None and self._up:
                answer_to(answer)

        def begin(_subject: str, data: bytes, answer_to: Callable[[bytes], None] | None) -> None:
            task = asyncio.create_task(respond(data, answer_to))
            self._answering.add(task)
            task.add_done_callback(self._answering.discard)

        return self._end(self.server.subscribe(self, subject, begin))

    async def listen(self, subject: str, listener: Listener) -> End:
        def note(found: str, data: bytes, _answer_to: Callable[[bytes], None] | None) -> None:
            asyncio.get_running_loop().call_soon(listener, found, data)

        return self._end(self.server.subscribe(self, subject, note))

    def _end(self, subscription: Subscription) -> End:
        async def end() -> None:
            self.server.unsubscribe(subscription)

        return end

    # --- what is kept

    def bucket(self, name: str) -> MemoryBucket:
        return MemoryBucket(self, name)

    def links(self) -> MemoryLinks:
        return MemoryLinks(self)

    def records(self, kind: str) -> MemoryRecords:
        return MemoryRecords(self, kind)

    async def ask(self, what: str, act: Callable[[], T], payload: bytes = b"") -> T:
        """Has the servers do something that changes nothing."""
        return await self._ask(what, act, payload)

    async def change(self, what: str, act: Callable[[], T], payload: bytes = b"") -> T:
        """Has the servers change something: there must be room, and the answer may be lost."""
        faults = self.server.faults
        lost = False

        def change() -> T:
            nonlocal lost
            if faults.full:
                raise EngineFullError(f"{what}: insufficient storage resources available")
            result = act()
            lost = faults.take_lost_answer()
            return result

        result = await self._ask(what, change, payload)
        if lost:
            await asyncio.sleep(ANSWER_TIMEOUT)
            raise EngineAwayError(f"{what}: no answer in time")
        return result

    async def _ask(self, what: str, act: Callable[[], T], payload: bytes) -> T:
        self.check(what, payload)
        faults, way = self.server.faults, self.server.faults.delay / 2
        try:
            async with asyncio.timeout(ANSWER_TIMEOUT):
                await asyncio.sleep(way)
                if faults.electing or not self._up:
                    await asyncio.sleep(ANSWER_TIMEOUT)
                result = act()
                await asyncio.sleep(way)
                if not self._up:
                    await asyncio.sleep(ANSWER_TIMEOUT)
        except TimeoutError:
            raise EngineAwayError(f"{what}: no answer in time") from None
        return result
