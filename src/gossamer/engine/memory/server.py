"""What all lines of an engine in memory share: subjects, streams, and the faults that tests make."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from gossamer.clock import SYSTEM, Clock
from gossamer.engine.memory.faults import Faults
from gossamer.engine.memory.kept import KeptStream

Deliver = Callable[[str, bytes, Callable[[bytes], None] | None], None]
"""Subject, message, and where an answer goes."""


class Line(Protocol):
    """A line, as the server sees it."""

    @property
    def connected(self) -> bool: ...

    def look(self) -> None:
        """The server was stopped, or started."""


@dataclass(eq=False)
class Subscription:
    line: Line
    pattern: list[str]
    deliver: Deliver


@dataclass
class MemoryServer:
    clock: Clock = SYSTEM
    max_payload: int = 8 << 20
    faults: Faults = field(default_factory=Faults)
    streams: dict[str, KeptStream] = field(default_factory=dict)
    running: bool = True
    readers: int = 0
    """Grows when the engine forgets all readers; those of before are of no use then."""
    _lines: list[Line] = field(default_factory=list)
    _subscriptions: list[Subscription] = field(default_factory=list)

    # --- faults

    def stop(self) -> None:
        """Every call fails from now on; what is kept stays."""
        self.running = False
        self.forget_readers()
        for line in self._lines:
            line.look()

    def start(self) -> None:
        self.running = True
        for line in self._lines:
            line.look()

    def wipe(self) -> None:
        """The disk is lost: as after a stop, a new disk, and a start."""
        was = self.running
        self.stop()
        self.streams.clear()
        if was:
            self.start()

    def lose_tail(self, stream: str, count: int) -> None:
        """A power cut: what was acknowledged last is gone."""
        self.stop()
        self.streams[stream].lose_tail(count)
        self.start()

    def forget_readers(self) -> None:
        self.readers += 1

    # --- for the lines

    def came(self, line: Line) -> None:
        self._lines.append(line)

    def subscribe(self, line: Line, subject: str, deliver: Deliver) -> Subscription:
        one = Subscription(line, subject.split("."), deliver)
        self._subscriptions.append(one)
        return one

    def unsubscribe(self, one: Subscription) -> None:
        if one in self._subscriptions:
            self._subscriptions.remove(one)

    def left(self, line: Line) -> None:
        self._lines = [one for one in self._lines if one is not line]
        self._subscriptions = [one for one in self._subscriptions if one.line is not line]

    def pass_on(
        self, subject: str, data: bytes, answer: Callable[[bytes], None] | None = None
    ) -> int:
        """To all who listen and whose line is up; gives how many."""
        words = subject.split(".")
        found = [
            one
            for one in self._subscriptions
            if one.line.connected and _matches(one.pattern, words)
        ]
        for one in found:
            one.deliver(subject, data, answer)
        return len(found)


def _matches(pattern: list[str], words: list[str]) -> bool:
    if pattern[-1] == ">" and len(words) >= len(pattern):
        pattern, words = pattern[:-1], words[: len(pattern) - 1]
    return len(pattern) == len(words) and all(
        wanted in {"*", word} for wanted, word in zip(pattern, words, strict=True)
    )
