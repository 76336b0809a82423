"""Time as the program reads it: the machine's, or one that a test sets.

Who compares moments takes a `Clock` in its constructor. Waiting is asyncio's own (`asyncio.sleep`,
`asyncio.timeout`): an event loop has a clock too, and `SettableLoop` is one that runs by a settable
clock. So code that waits needs nothing injected, and one test runs in real time against a real engine
and in no time against the one in memory.
"""

import asyncio
import selectors
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from _typeshed import FileDescriptorLike

T = TypeVar("T")

THREAD_WAIT = 0.05
"""Real seconds after which a loop looks again at its threads; their end wakes it sooner."""


class Clock(Protocol):
    def now(self) -> float:
        """Seconds since the epoch: for people and for files, never to measure with."""

    def monotonic(self) -> float:
        """Seconds since some moment, never backwards; they also count while the machine sleeps."""

    def micros(self) -> int:
        """`monotonic` in whole microseconds, as the native part compares it (fences)."""


class SystemClock:
    """The machine's. `CLOCK_BOOTTIME`, because a lease also ends while a machine sleeps."""

    def now(self) -> float:
        return time.time()

    def monotonic(self) -> float:
        return time.clock_gettime(time.CLOCK_BOOTTIME)

    def micros(self) -> int:
        return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1000


SYSTEM = SystemClock()


class SettableClock:
    """Stands still until it is moved."""

    def __init__(self, now: float = 1_800_000_000.0) -> None:
        self._micros = 1_000_000_000
        self._epoch = now - self._micros / 1e6

    def now(self) -> float:
        return self._epoch + self._micros / 1e6

    def monotonic(self) -> float:
        return self._micros / 1e6

    def micros(self) -> int:
        return self._micros

    def advance(self, seconds: float) -> None:
        """In whole microseconds, rounded up: a wait that is over is never a moment short."""
        if seconds < 0:
            raise ValueError("time goes forward only")
        self._micros -= int(-seconds * 1e6 // 1)

    def set_now(self, now: float) -> None:
        """The time of day jumps, as when an operator corrects it; what is measured does not."""
        self._epoch = now - self._micros / 1e6


class SettableLoop(asyncio.SelectorEventLoop):
    """An event loop whose time is a settable clock: where every task waits, time moves to the next timer.

    Hours pass in milliseconds, in the same order of events each time. A thread that works (as
    `asyncio.to_thread` does) holds time still. Where everything waits for something that no timer, thread
    or socket brings, the loop raises `RuntimeError` instead of waiting for ever.
    """

    def __init__(self, clock: SettableClock | None = None) -> None:
        self.clock = clock or SettableClock()
        self._working = 0
        super().__init__(_Waiter(self))

    def time(self) -> float:
        return self.clock.monotonic()

    @property
    def working(self) -> bool:
        """Whether a thread does something for this loop."""
        return self._working > 0

    def run_in_executor(  # type: ignore[override]
        self, executor: Executor | None, func: Callable[..., T], *args: Any
    ) -> "asyncio.Future[T]":
        future = super().run_in_executor(executor, func, *args)
        self._working += 1
        future.add_done_callback(self._worked)
        return future

    def _worked(self, _future: "asyncio.Future[Any]") -> None:
        self._working -= 1

    async def shutdown_default_executor(self, *args: Any, **more: Any) -> None:
        """A thread waits for the others to end."""
        self._working += 1
        try:
            await super().shutdown_default_executor(*args, **more)
        finally:
            self._working -= 1


class _Waiter(selectors.BaseSelector):
    """Where an event loop waits. It is asked for nothing but what has come already, unless all tasks wait."""

    def __init__(self, loop: SettableLoop) -> None:
        self._loop = loop
        self._real = selectors.DefaultSelector()

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        found = self._real.select(0)
        if found or (timeout is not None and timeout <= 0):
            return found
        if self._loop.working:
            return self._real.select(THREAD_WAIT)
        if timeout is None:
            raise RuntimeError("every task waits, and nothing will ever wake one")
        self._loop.clock.advance(timeout)
        return found

    def register(
        self, fileobj: "FileDescriptorLike", events: int, data: Any = None
    ) -> selectors.SelectorKey:
        return self._real.register(fileobj, events, data)

    def unregister(self, fileobj: "FileDescriptorLike") -> selectors.SelectorKey:
        return self._real.unregister(fileobj)

    def modify(
        self, fileobj: "FileDescriptorLike", events: int, data: Any = None
    ) -> selectors.SelectorKey:
        return self._real.modify(fileobj, events, data)

    def get_map(self) -> "Mapping[FileDescriptorLike, selectors.SelectorKey]":
        return self._real.get_map()

    def get_key(self, fileobj: "FileDescriptorLike") -> selectors.SelectorKey:
        return self._real.get_key(fileobj)

    def close(self) -> None:
        self._real.close()
