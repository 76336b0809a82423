"""Reading a crawl's log, with a bar for a terminal while it takes long."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from gossamer.cli.console import console
from gossamer.report import Visits, read_visits
from gossamer.words import count


def read_log_of(directory: Path) -> Visits:
    with _bar() as tell:
        return read_visits(directory, tell)


@contextlib.contextmanager
def _bar() -> Iterator[Callable[[int, int, int], None] | None]:
    shown = console(stderr=True)
    if not shown.is_terminal:
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=shown, transient=True) as progress:
        task = progress.add_task("reading the log", total=None)

        def tell(done: int, total: int, lines: int) -> None:
            progress.update(task, total=total, completed=done, description=f"{count(lines)} visits")

        yield tell
