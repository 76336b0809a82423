"""The panel of a crawl on a terminal: drawn for the columns and rows that there are."""

import textwrap
import time
from collections.abc import Sequence
from typing import Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from gossamer.cli.activity import ACTIVITY
from gossamer.cli.pace import Rates, Target
from gossamer.cli.seed_news import SeedNews
from gossamer.counts import beside_pages
from gossamer.model.progress import HostLine, Progress
from gossamer.model.waits import in_words
from gossamer.policy.hosts.outcomes import Group as Kind
from gossamer.policy.hosts.outcomes import group
from gossamer.words import count, plain, short_span, size, span

REFRESH = 4
"""Drawings a second."""
WIDEST = 160
"""Columns that the panel uses; wider lines are hard to read."""
BESIDE = 110
"""From so many columns on the hosts stand beside each other."""
BETWEEN = 4
FRAME = 4
"""Columns of the panel's frame and its padding."""
_BARS = " ▁▂▃▄▅▆▇█"
_COLOURS = {Kind.DONE: "green", Kind.REFUSED: "yellow", Kind.FAILED: "red"}
_FACTS = 4 + 2 + 1
"""Rows of facts, of outcomes and of the plot of the rate."""


class PanelView:
    """A panel that is drawn anew a few times a second, in place."""

    def __init__(self, console: Console, title: str, target: Target) -> None:
        self._console = console
        self._title = title
        self._target = target
        self._rates = Rates()
        self._news = SeedNews()
        self._lines: list[str] = []
        """What was told above the panel; a bounded number."""
        self._size = console.size
        self._progress: Progress | None = None
        self._live = Live(
            console=console,
            refresh_per_second=REFRESH,
            transient=True,
            # A panel that is higher than the terminal would leave parts of itself behind.
            vertical_overflow="crop",
            get_renderable=self._draw,
        )

    def __enter__(self) -> Self:
        self._live.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.__exit__(None, None, None)

    def show(self, progress: Progress) -> None:
        self._rates.add(progress)
        self._progress = progress
        fresh = self._news.fresh(progress)
        self._lines += fresh
        if self._console.size != self._size:
            # The terminal has broken the lines of the old panel: begin with an empty one.
            self._size = self._console.size
            self._console.clear()
            fresh = self._lines
        for line in fresh:
            # Above the panel, where it stays.
            self._console.print(Text(line, style="red"))

    def _draw(self) -> RenderableType:
        """What is known now, for the size that the terminal has now."""
        if self._progress is None:
            return Text()
        width, height = self._console.size
        # What was told above stays in sight, up to a third of the terminal.
        told = sum(-(-len(line) // max(1, width)) for line in self._lines)
        height -= min(told, height // 3)
        return draw(self._title, self._progress, self._rates, self._target, width, height)


def draw(  # noqa: PLR0917
    title: str, progress: Progress, rates: Rates, target: Target, width: int, height: int
) -> Panel:
    """The panel for a terminal of that size: no line is wider, and it is never higher."""
    width = min(width, WIDEST)
    inner = width - FRAME
    words, colour = ACTIVITY[progress.activity]
    notes = _notes(progress, inner)
    parts: list[RenderableType] = [_facts(progress, rates, target), *_outcomes(progress, inner)]
    share = target.share(progress)
    if share is not None:
        bar = Table.grid()
        bar.add_row(ProgressBar(total=1.0, completed=share, width=inner))
        parts.append(bar)
    parts.append(Text(_sparkline(rates, inner), style="cyan", no_wrap=True, overflow="crop"))
    # What is left of the terminal's rows is for hosts: frame, facts, outcomes, bar, plot, notes, last line.
    used = 2 + _FACTS + (share is not None) + len(notes) + 1
    parts.extend(_hosts(progress, inner, height - used))
    parts.extend(notes)
    head = Text.assemble((f"{plain(title, max(8, inner - 40))}: ", "bold"), (words, colour))
    return Panel(Group(*parts), title=head, title_align="left", width=width)


def _fact(name: str, value: str, more: str = "") -> Text:
    return Text.assemble(
        (f"{name} ", "dim"), (value, "bold"), (f" {more}" if more else "", "cyan"),
        no_wrap=True, overflow="ellipsis",
    )  # fmt: skip


def _facts(progress: Progress, rates: Rates, target: Target) -> Table:
    grid = Table.grid(padding=(0, 2), expand=True)
    for _ in range(3):
        grid.add_column(ratio=1, no_wrap=True, overflow="ellipsis")
    grid.add_row(
        _fact("pages", count(progress.pages), f"{_rate(rates.pages)}/s"),
        _fact("bytes", size(progress.bytes), f"{size(round(rates.bytes), 0)}/s"),
        _fact("time", span(progress.seconds)),
    )
    grid.add_row(
        _fact("URLs known", count(progress.urls_seen)),
        _fact("queued", count(progress.urls_queued), f"{count(progress.in_flight)} under way"),
        Text(target.left(progress, rates), style="cyan"),
    )
    grid.add_row(
        _fact("hosts", count(progress.hosts_known), f"{count(progress.hosts_active)} active"),
        _fact("waiting", count(progress.hosts_waiting)),
        _fact("set aside", count(progress.hosts_set_aside)),
    )
    grid.add_row(
        _fact("memory", size(progress.rss)),
        _fact("disk", size(progress.disk)),
        _fact("seeds failed", count(progress.seeds_failed)) if progress.seeds_failed else Text(),
    )
    return grid


def _rate(number: float) -> str:
    return f"{number:.1f}" if 0 < number < 10 else count(number)


def _outcomes(progress: Progress, width: int) -> list[Text]:
    """A line for what was done, one for what was refused or failed, each with the most frequent first."""
    by_number = sorted(progress.outcomes.items(), key=lambda item: -item[1])
    lines = []
    for heading, kinds in (("done", {Kind.DONE}), ("not done", {Kind.REFUSED, Kind.FAILED})):
        line = Text.assemble((f"{heading:10}", "dim"), no_wrap=True, overflow="ellipsis")
        for name, number in by_number:
            if group(name) in kinds:
                line.append(f"{name} ", "dim").append(count(number), _COLOURS[group(name)])
                if others := beside_pages(progress, name):
                    line.append(f" ({others})", "dim")
                line.append("   ")
        line.truncate(width, overflow="ellipsis")
        lines.append(line)
    return lines


def _sparkline(rates: Rates, width: int) -> str:
    shown = list(rates.history)[-width:]
    top = max(shown, default=0.0) or 1.0
    return "".join(_BARS[round(rate / top * (len(_BARS) - 1))] for rate in shown)


def _hosts(progress: Progress, width: int, rows: int) -> list[RenderableType]:
    """The slowest and the busiest hosts, beside each other where there is room for that."""
    slowest, busiest = progress.slowest, progress.busiest
    if not (slowest or busiest) or rows < 2:
        return []
    if width >= BESIDE:
        most = rows - 1
        half = (width - BETWEEN) // 2
        pair = Table.grid(padding=(0, BETWEEN), pad_edge=False)
        pair.add_column(width=half)
        pair.add_column(width=half)
        pair.add_row(_slowest(slowest[:most], half), _busiest(busiest[:most], half))
        return [pair]
    # One above the other: a heading each, and the slowest decide how long it takes.
    most_slow = max(1, min(len(slowest), (rows - 1) // 2 if busiest else rows - 1))
    parts: list[RenderableType] = [_slowest(slowest[:most_slow], width)]
    left = rows - 1 - min(most_slow, len(slowest)) - 1
    if left >= 1 and busiest:
        parts.append(_busiest(busiest[:left], width))
    return parts


def _slowest(hosts: Sequence[HostLine], width: int) -> Table:
    table = _table("slowest hosts", width, "queued", "gap", "answers in", "left")
    for host in hosts:
        gap, response = short_span(host.gap), short_span(host.response)
        table.add_row(Text(plain(host.host)), count(host.queued), gap, response, span(host.left))
    return table


def _busiest(hosts: Sequence[HostLine], width: int) -> Table:
    table = _table("busiest hosts", width, "pages", "queued", "answers in")
    for host in hosts:
        response = short_span(host.response)
        table.add_row(Text(plain(host.host)), count(host.pages), count(host.queued), response)
    return table


def _table(title: str, width: int, *columns: str) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", width=width, pad_edge=False)
    table.add_column(title, no_wrap=True, overflow="ellipsis", ratio=1)
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    return table


def _notes(progress: Progress, width: int) -> list[Text]:
    """Why hosts wait, a line each, and what the crawl itself waits for, which is never cut."""
    texts = [plain(text) for text in in_words(progress.waits, time.time())]
    texts += textwrap.wrap(plain(progress.note), width)
    return [Text(text, style="yellow", no_wrap=True, overflow="ellipsis") for text in texts]
