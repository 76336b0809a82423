"""What buckets and streams need of the line that they go over."""

from collections.abc import Callable
from typing import Protocol, TypeVar

from gossamer.engine.memory.kept import KeptStream
from gossamer.engine.memory.server import MemoryServer
from gossamer.engine.names import Names
from gossamer.engine.ports import End, Listener
from gossamer.errors import EngineEmptyError

T = TypeVar("T")


class Line(Protocol):
    names: Names
    server: MemoryServer
    connections: int

    @property
    def connected(self) -> bool: ...
    def check(self, what: str, payload: bytes = b"") -> None: ...
    def later(self, call: Callable[[], object]) -> None: ...
    async def ask(self, what: str, act: Callable[[], T], payload: bytes = b"") -> T: ...
    async def change(self, what: str, act: Callable[[], T], payload: bytes = b"") -> T: ...
    async def listen(self, subject: str, listener: Listener) -> End: ...


def stream(line: Line, name: str, what: str) -> KeptStream:
    found = line.server.streams.get(name)
    if found is None:
        raise EngineEmptyError(f"{what}: stream not found")
    return found
