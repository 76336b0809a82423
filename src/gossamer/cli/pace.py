"""How fast a crawl goes, as its view sees it, and when it will end."""

import time
from collections import deque
from collections.abc import Callable

from gossamer.cli.activity import left_words
from gossamer.control.eta import time_left
from gossamer.model.progress import Activity, Progress

WINDOW = 10.0
"""Seconds that a rate is taken over."""


class Rates:
    """Pages, bytes and visits per second over the last seconds, from readings of the counters."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._readings: deque[tuple[float, int, int, int]] = deque()
        self.history: deque[float] = deque(maxlen=160)
        self._last_history = 0.0

    def add(self, progress: Progress) -> None:
        now = self._clock()
        self._readings.append((now, progress.pages, progress.bytes, progress.visits))
        while len(self._readings) > 2 and now - self._readings[0][0] > WINDOW:
            self._readings.popleft()
        if now - self._last_history >= 1.0:
            self._last_history = now
            self.history.append(self.pages)

    def _rate(self, field: int) -> float:
        if len(self._readings) < 2:
            return 0.0
        first, last = self._readings[0], self._readings[-1]
        passed = last[0] - first[0]
        return max(0.0, (last[field] - first[field]) / passed) if passed > 0 else 0.0

    @property
    def pages(self) -> float:
        return self._rate(1)

    @property
    def bytes(self) -> float:
        return self._rate(2)

    @property
    def visits(self) -> float:
        return self._rate(3)


class Target:
    """The limits that end the crawl, if there are any, for a bar and a time left."""

    def __init__(self, max_pages: int | None, max_seconds: float | None) -> None:
        self.pages = max_pages
        self.time = max_seconds

    def share(self, progress: Progress) -> float | None:
        shares = []
        if self.pages:
            shares.append((progress.pages + progress.pages_dropped) / self.pages)
        if self.time:
            shares.append(progress.seconds / self.time)
        return min(1.0, max(shares)) if shares else None

    def left(self, progress: Progress, rates: Rates) -> str:
        """In words; empty where it cannot be told, or the crawl does not go on."""
        if progress.activity is not Activity.RUNNING:
            return ""
        return left_words(*time_left(self, progress, rates.pages, rates.visits))
