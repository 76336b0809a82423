"""What buckets and streams need of the line that they go over."""

from collections.abc import Callable
from typing import Protocol

from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.js import JetStreamContext

from gossamer.clock import Clock
from gossamer.engine.jetstream.failures import explained
from gossamer.engine.names import Names
from gossamer.engine.ports import End, Listener
from gossamer.errors import EngineAwayError, EngineError


class Line(Protocol):
    names: Names
    clock: Clock
    connections: int
    stream: JetStreamContext

    async def call(self, subject: str, payload: bytes) -> bytes: ...
    async def listen(self, subject: str, listener: Listener) -> End: ...
    def inbox(self) -> str: ...
    async def ask(self, subject: str, payload: bytes, answer_to: str) -> None: ...
    async def collect(self, subject: str, taker: Callable[[Msg], None]) -> Subscription: ...


async def unanswered(line: Line, stream: str, what: str) -> EngineError:
    """Why nobody took a message for a stream: it is not there (`EngineEmptyError`, raised), or nobody leads it.

    NATS says the same of both, but to make a stream anew is right only for the first.
    """
    with explained(what):
        await line.stream.stream_info(stream)
    return EngineAwayError(f"{what}: its servers are choosing a leader")
