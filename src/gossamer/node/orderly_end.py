"""SIGTERM and SIGHUP as an exception, so that what a process holds is let go as at any other end."""

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Final

NUMBERS: Final = (signal.SIGTERM, signal.SIGHUP)


class _Signals:
    """Of this process."""

    def __init__(self) -> None:
        self._unbroken = 0
        self._came: int | None = None

    def note(self, number: int, _frame: FrameType | None) -> None:
        # A second one, as of a terminal that is closed and of its shell, must not break off the letting go.
        for one in NUMBERS:
            signal.signal(one, signal.SIG_IGN)
        self._came = number
        self._end()

    @contextlib.contextmanager
    def unbroken(self) -> Iterator[None]:
        self._unbroken += 1
        try:
            yield
        finally:
            self._unbroken -= 1
            self._end()

    def _end(self) -> None:
        if self._came is not None and not self._unbroken:
            number, self._came = self._came, None
            raise SystemExit(128 + number)


_signals: Final = _Signals()

unbroken = _signals.unbroken
"""A block that is not broken off: a signal that comes meanwhile ends the process after it."""


@contextlib.contextmanager
def orderly_end() -> Iterator[None]:
    """While it lasts, these signals end the process through every `finally`; exit code 128 + number.

    Only where nobody else has decided what they do: `nohup` stays as it is, and so does an outer one of these.
    """
    if threading.current_thread() is not threading.main_thread():
        # Only the main thread can have handlers.
        yield
        return
    free = [number for number in NUMBERS if signal.getsignal(number) is signal.SIG_DFL]
    for number in free:
        signal.signal(number, _signals.note)
    try:
        yield
    finally:
        for number in free:
            signal.signal(number, signal.SIG_DFL)
