"""The live view of a crawl: a panel on a terminal, plain lines elsewhere."""

import sys
import time
from collections import deque
from typing import Protocol, Self

from rich.console import Console, Group
from rich.live import Live
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from gossamer.cli.text import count, plain, size, span
from gossamer.model.progress import Activity, Progress
from gossamer.model.waits import in_words

WINDOW = 10.0
PLAIN_EVERY = 5.0
_BARS = " ▁▂▃▄▅▆▇█"

_ACTIVITY = {
    Activity.RUNNING: ("crawling", "green"),
    Activity.PAUSED: ("paused", "yellow"),
    Activity.DISK_FULL: ("waiting for room on the disk", "red"),
    Activity.FINISHED: ("finished", "green"),
    Activity.LIMIT_REACHED: ("limit reached", "green"),
}


class View(Protocol):
    """What the crawl loop reports to."""

    def __enter__(self) -> Self: ...
    def __exit__(self, *_: object) -> None: ...
    def show(self, progress: Progress) -> None: ...


class Rates:
    """Pages and bytes per second over the last seconds, from readings of the counters."""

    def __init__(self) -> None:
        self._readings: deque[tuple[float, int, int]] = deque()
        self.history: deque[float] = deque(maxlen=60)
        self._last_history = 0.0

    def add(self, progress: Progress) -> None:
        now = time.monotonic()
        self._readings.append((now, progress.pages, progress.bytes))
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
        return (last[field] - first[field]) / passed if passed > 0 else 0.0

    @property
    def pages(self) -> float:
        return self._rate(1)

    @property
    def bytes(self) -> float:
        return self._rate(2)

    def sparkline(self) -> str:
        top = max(self.history, default=0.0) or 1.0
        return "".join(_BARS[round(rate / top * (len(_BARS) - 1))] for rate in self.history)


class Target:
    """The limit that ends the crawl, if there is one, for a bar and a time left."""

    def __init__(self, max_pages: int | None, max_seconds: float | None) -> None:
        self.max_pages = max_pages
        self.max_seconds = max_seconds

    def share(self, progress: Progress) -> float | None:
        shares = []
        if self.max_pages:
            shares.append(progress.pages / self.max_pages)
        if self.max_seconds:
            shares.append(progress.seconds / self.max_seconds)
        return min(1.0, max(shares)) if shares else None

    def left(self, progress: Progress, rate: float) -> float | None:
        times = []
        if self.max_pages and rate > 0:
            times.append((self.max_pages - progress.pages) / rate)
        if self.max_seconds:
            times.append(self.max_seconds - progress.seconds)
        return max(0.0, min(times)) if times else None


class PanelView:
    """A panel that is drawn anew a few times a second."""

    def __init__(self, console: Console, title: str, target: Target) -> None:
        self._title = plain(title, 60)
        self._target = target
        self._rates = Rates()
        self._live = Live(console=console, refresh_per_second=4, transient=True)

    def __enter__(self) -> Self:
        self._live.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.__exit__(None, None, None)

    def show(self, progress: Progress) -> None:
        self._rates.add(progress)
        self._live.update(self._panel(progress))

    def _panel(self, progress: Progress) -> Panel:
        words, colour = _ACTIVITY[progress.activity]
        grid = Table.grid(padding=(0, 3))
        for _ in range(3):
            grid.add_column(ratio=1)
        rates = self._rates
        grid.add_row(
            _fact("pages", count(progress.pages), f"{count(rates.pages)}/s"),
            _fact("bytes", size(progress.bytes), f"{size(rates.bytes)}/s"),
            _fact("time", span(progress.seconds), self._left(progress)),
        )
        grid.add_row(
            _fact("URLs known", count(progress.urls_seen)),
            _fact("queued", count(progress.urls_queued), f"{count(progress.in_flight)} under way"),
            _fact("memory", size(progress.rss), f"disk {size(progress.disk)}"),
        )
        grid.add_row(
            _fact("hosts", count(progress.hosts_known), f"{count(progress.hosts_active)} active"),
            _fact("waiting", count(progress.hosts_waiting)),
            _fact("set aside", count(progress.hosts_set_aside)),
        )
        parts: list[object] = [grid, Text(), _outcomes(progress), Text()]
        share = self._target.share(progress)
        if share is not None:
            parts.append(ProgressBar(total=1.0, completed=share, width=60))
        parts.append(Text(rates.sparkline(), style="cyan"))
        parts.extend(
            Text(plain(text), style="yellow") for text in in_words(progress.waits, time.time())
        )
        if progress.note:
            parts.append(Text(plain(progress.note), style="yellow"))
        title = Text.assemble((f" {self._title} ", "bold"), (f"{words} ", colour))
        return Panel(Group(*parts), title=title, title_align="left", width=92)  # type: ignore[arg-type]

    def _left(self, progress: Progress) -> str:
        left = self._target.left(progress, self._rates.pages)
        return f"{span(left)} left" if left is not None else ""


class LineView:
    """A line every few seconds, for logs and pipes."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._rates = Rates()
        self._last = -PLAIN_EVERY
        self._activity = Activity.RUNNING

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def show(self, progress: Progress) -> None:
        self._rates.add(progress)
        now = time.monotonic()
        # A change, such as a full disk, is told at once; the end has its own summary.
        changed = progress.activity not in {self._activity, Activity.FINISHED}
        if now - self._last < PLAIN_EVERY and not changed:
            return
        self._last, self._activity = now, progress.activity
        left = self._target.left(progress, self._rates.pages)
        print(
            f"{_ACTIVITY[progress.activity][0]}: {progress.pages} pages "
            f"({self._rates.pages:.0f}/s), {size(progress.bytes)}, "
            f"{progress.urls_queued} queued, {progress.hosts_active} hosts active, "
            f"{progress.hosts_waiting} waiting, {progress.hosts_set_aside} set aside, "
            f"memory {size(progress.rss)}"
            + (f", {span(left)} left" if left is not None else "")
            + "".join(f"; {plain(text)}" for text in in_words(progress.waits, time.time(), most=2))
            + (f"; {plain(progress.note)}" if progress.note else ""),
            file=sys.stderr,
            flush=True,
        )


class NoView:
    """Nothing: a panel would wrap the lines that a program wants to read."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def show(self, progress: Progress) -> None:
        """What there is to see is in the API, and in the summary."""


def _fact(name: str, value: str, more: str = "") -> Text:
    return Text.assemble(
        (f"{name} ", "dim"), (value, "bold"), (f"  {more}" if more else "", "cyan")
    )


def _outcomes(progress: Progress) -> Text:
    text = Text()
    by_number = sorted(progress.outcomes.items(), key=lambda item: -item[1])
    for name, number in by_number[:8]:
        style = "green" if name in {"fetched", "not_modified", "redirected"} else "yellow"
        text.append(f"{name} ", "dim").append(count(number), style).append("   ")
    return text


def make_view(*, title: str, target: Target, only_log: bool = False) -> View:
    """The view that fits where the standard error goes; none where a program reads the log there.

    Lines of the log and the panel share a terminal: the panel takes over `sys.stderr` while it is
    shown, and puts above itself what is written there.
    """
    if only_log:
        return NoView()
    console = Console(stderr=True)
    if console.is_terminal:
        return PanelView(console, title, target)
    return LineView(target)
