"""The live view of a crawl: a panel on a terminal, plain lines elsewhere."""

import sys
import time
from collections.abc import Callable
from typing import IO, Protocol, Self, cast

from gossamer.cli.activity import ACTIVITY
from gossamer.cli.console import console
from gossamer.cli.pace import Rates, Target
from gossamer.cli.panel import PanelView
from gossamer.cli.seed_news import SeedNews
from gossamer.cli.steady import Steady
from gossamer.cli.terminal import drawn_on
from gossamer.counts import beside_pages
from gossamer.logging import logger
from gossamer.model.progress import Activity, Progress
from gossamer.model.waits import in_words
from gossamer.words import count, counted, plain, size

__all__ = ["LineView", "LogView", "PanelView", "Target", "View", "make_view"]

LINE_EVERY = 1.0
"""Seconds between two lines while something changes."""
STILL_EVERY = 10.0
"""The same while nothing does."""
SHOWN_OUTCOMES = 6

_ENDED = {Activity.FINISHED, Activity.LIMIT_REACHED}
_log = logger("crawl")


class View(Protocol):
    """What the crawl loop reports to."""

    def __enter__(self) -> Self: ...
    def __exit__(self, *_: object) -> None: ...
    def show(self, progress: Progress) -> None: ...


class LineView:
    """A line a second while something changes, for logs and pipes."""

    def __init__(self, target: Target, clock: Callable[[], float] = time.monotonic) -> None:
        self._target = target
        self._clock = clock
        self._rates = Rates(clock)
        self._news = SeedNews()
        self._last: float | None = None
        self._facts: tuple[object, ...] = ()
        self._words: tuple[object, ...] = ()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def show(self, progress: Progress) -> None:
        self._rates.add(progress)
        for line in self._news.fresh(progress):
            _print(line)
        if progress.activity in _ENDED and not progress.settled:
            # The last pages are not safe yet: their count comes with the next reading.
            return
        # What the crawl itself waits for is told at once; the end has its own summary.
        words = (progress.activity, progress.note)
        facts = (
            progress.visits,
            progress.urls_queued,
            progress.in_flight,
            *progress.outcomes.items(),
        )
        passed = self._clock() - self._last if self._last is not None else STILL_EVERY
        still = facts == self._facts or progress.activity in _ENDED
        wait = STILL_EVERY if still else LINE_EVERY
        told = words != self._words and progress.activity not in _ENDED
        if passed < wait and not told:
            return
        self._last, self._facts, self._words = self._clock(), facts, words
        _print(self._line(progress))

    def _line(self, progress: Progress) -> str:
        ranked = sorted(progress.outcomes.items(), key=lambda item: -item[1])
        outcomes = ", ".join(_named(progress, *one) for one in ranked[:SHOWN_OUTCOMES])
        done = (
            f"{counted(progress.pages, 'page')} ({self._rates.pages:.0f}/s), {size(progress.bytes)}"
        )
        ahead = f"{count(progress.urls_queued)} queued, {progress.in_flight} under way"
        active, waiting = progress.hosts_active, progress.hosts_waiting
        parts = [
            f"{ACTIVITY[progress.activity][0]}: {done}, {ahead}",
            outcomes,
            f"hosts: {active} active, {waiting} waiting, {progress.hosts_set_aside} set aside",
            f"memory {size(progress.rss)}, disk {size(progress.disk)}",
            self._target.left(progress, self._rates),
            *in_words(progress.waits, time.time(), most=2),
            progress.note,
        ]
        return "; ".join(plain(part) for part in parts if part)


def _named(progress: Progress, name: str, number: int) -> str:
    others = beside_pages(progress, name)
    return f"{name} {count(number)} ({others})" if others else f"{name} {count(number)}"


class LogView:
    """Lines of the log only, for a program that reads them: the seeds that fail, and nothing that repeats."""

    def __init__(self) -> None:
        self._news = SeedNews()
        self._note = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def show(self, progress: Progress) -> None:
        for line in self._news.fresh(progress):
            _log.warning(line)
        if progress.note and progress.note.partition(":")[0] != self._note:
            self._note = progress.note.partition(":")[0]
            _log.warning(progress.note)


def _print(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def make_view(*, title: str, target: Target, only_log: bool = False) -> View:
    """The view that fits where the standard error goes; none where a program reads the log there.

    Lines of the log and the panel share a terminal: the panel takes over `sys.stderr` while it is
    shown, and puts above itself what is written there.
    """
    if only_log:
        return LogView()
    drawn = console(stderr=True, file=cast("IO[str]", Steady(drawn_on(sys.stderr))))
    if drawn.is_terminal:
        return PanelView(drawn, title, target)
    return LineView(target)
