"""A run: applications are filled, served behind one nginx, and crawled one after the other."""

import contextlib
import importlib
import inspect
import pkgutil
import shutil
import signal
import tempfile
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console
from tests.realweb import apps as package
from tests.realweb.app import CACHE, App, fill
from tests.realweb.crawlers import CRAWLERS, crawl
from tests.realweb.front import Front, front
from tests.realweb.install import UnavailableError, install, unpack, venv
from tests.realweb.measure import figures, requests_of
from tests.realweb.report import Row, table


def known() -> dict[str, type[App]]:
    """Every application of `apps/`, by name."""
    found: dict[str, type[App]] = {}
    for module in pkgutil.iter_modules(package.__path__):
        loaded = importlib.import_module(f"{package.__name__}.{module.name}")
        for _, member in inspect.getmembers(loaded, inspect.isclass):
            if issubclass(member, App) and member.__module__ == loaded.__name__:
                found[member.name] = member
    numbers = [app.number for app in found.values()]
    assert len(set(numbers)) == len(numbers), "two applications have one number"
    return dict(sorted(found.items(), key=lambda item: item[1].number))


def prepared(names: Sequence[str], small: bool, console: Console) -> tuple[list[App], list[str]]:
    """The applications that can run here, filled; and what was skipped, with the reason."""
    ready, skipped = [], []
    for name in names:
        app = known()[name](small=small)
        try:
            install(app.packages)
            unpack(app.read_packages)
            if app.requirements:
                venv(app.requirements)
        except UnavailableError as reason:
            skipped.append(f"{name}: {reason}")
            console.print(f"skipped {skipped[-1]}", markup=False)
            continue
        if fill(app):
            console.print(f"filled {name}")
        ready.append(app)
    return ready, skipped


@contextlib.contextmanager
def results(keep: Path | None) -> Iterator[Path]:
    """Where crawlers write: kept if asked for."""
    if keep is not None:
        yield keep.resolve()
        return
    with tempfile.TemporaryDirectory(prefix="crawls-", dir=CACHE / "runs") as folder:
        yield Path(folder)


def warm(starts: Sequence[str]) -> None:
    """One visit before the first crawl: programs fill their caches then, which can take half a minute."""
    for start in starts:
        with urllib.request.urlopen(start, timeout=300) as page:
            page.read()


def measured(
    app: App,
    crawler: str,
    starts: Sequence[str],
    log: Front,
    *,
    folder: Path,
    limit: float,
) -> Row:
    """One crawl of one application."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    command = CRAWLERS[crawler](starts, folder)
    truth = app.truth()
    mark = log.mark()
    run = crawl(command, folder, limit)
    lines = log.since(mark)
    requests = requests_of(lines)
    (folder / "access.log").write_bytes(lines)
    row = Row(app.name, crawler, figures(requests, truth, app.page_of), run)
    (folder / "missing.txt").write_text("\n".join(row.figures.missing))
    return row


def keep_serving(ready: Sequence[App], console: Console) -> None:
    """Until Ctrl-C."""
    with front(ready), contextlib.ExitStack() as serving:
        for app in ready:
            console.print(app.name, *serving.enter_context(app.serve()))
        signal.pause()


def crawled(
    ready: Sequence[App],
    crawlers: Sequence[str],
    console: Console,
    *,
    keep: Path | None,
    limit: float,
    shown: int,
) -> tuple[list[Row], list[str]]:
    """Every application by every crawler; and what was skipped, with the reason."""
    rows: list[Row] = []
    skipped: list[str] = []
    with front(ready) as log, results(keep) as folder:
        for app in ready:
            with app.serve() as starts:
                warm(starts)
                for crawler in crawlers:
                    console.print(f"… {app.name} by {crawler}")
                    place = folder / app.name / crawler
                    try:
                        row = measured(app, crawler, starts, log, folder=place, limit=limit)
                    except UnavailableError as reason:
                        skipped.append(f"{crawler}: {reason}")
                        console.print(f"skipped {skipped[-1]}", markup=False)
                        continue
                    rows.append(row)
                    console.print(table([row]))
                    for pattern, count in list(row.figures.junk.items())[:shown]:
                        print(f"{count:8} {pattern}")
    return rows, skipped
