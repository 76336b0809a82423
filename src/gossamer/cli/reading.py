"""Reading a crawl's files takes long: a bar on a terminal, with `--verbose` lines elsewhere, with `--quiet` nothing."""

import contextlib
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from gossamer.cli.console import console
from gossamer.cli.loudness import Loudness
from gossamer.report import Visits, read_visits
from gossamer.words import count, short_span

Tell = Callable[[int, int, int], None]
"""Bytes read, bytes in all, and what was counted so far."""
LINE_EVERY: Final = 1.0
"""Seconds between two lines."""


def read_log_of(
    directory: Path, loud: Loudness, committed: Mapping[Path, int] | None = None
) -> Visits:
    """`committed`: where files end before their own end."""
    with told("reading the log", "visits", loud) as tell:
        return read_visits(directory, tell, committed)


@contextlib.contextmanager
def told(what: str, counted: str, loud: Loudness) -> Iterator[Tell]:
    """Shows how far something is, in the way that fits."""
    if loud is Loudness.QUIET:
        yield _nothing
    elif loud is Loudness.VERBOSE:
        begun = time.monotonic()
        yield _Lines(what, counted)
        _say(f"{what}: {short_span(time.monotonic() - begun)}")
    else:
        with _bar(what, counted) as tell:
            yield tell


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _nothing(_done: int, _total: int, _number: int) -> None:
    """Nobody looks."""


class _Lines:
    def __init__(self, what: str, counted: str) -> None:
        self._what, self._counted = what, counted
        self._last = time.monotonic()

    def __call__(self, done: int, total: int, number: int) -> None:
        now = time.monotonic()
        if now - self._last < LINE_EVERY:
            return
        self._last = now
        share = f", {100 * done // total} %" if total else ""
        _say(f"{self._what}: {count(number)} {self._counted}{share}")


@contextlib.contextmanager
def _bar(what: str, counted: str) -> Iterator[Tell]:
    shown = console(stderr=True)
    if not shown.is_terminal:
        yield _nothing
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=shown, transient=True) as progress:
        task = progress.add_task(what, total=None)

        def tell(done: int, total: int, number: int) -> None:
            words = f"{count(number)} {counted}"
            progress.update(task, total=total or None, completed=done, description=words)

        yield tell
