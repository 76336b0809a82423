"""The crawls of a folder: how each stands.

Takes a folder; gives a row for each direct subfolder that holds a crawl, and for the folder itself if it is one.
Guarantees: of a crawl only `runs.jsonl` is read and, while it runs, its API asked for the status, for a second at most
and of 16 crawls at once; no state is opened, so large crawls take no longer than small ones. At most 1,000 are told: those touched last.
"""

import heapq
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, NamedTuple

from gossamer.control.client import control_directory, is_served, own_client
from gossamer.crawls.kinds import is_cluster
from gossamer.crawls.schemas import CrawlList, CrawlRow, State
from gossamer.errors import FileError, GossamerError, UsageError
from gossamer.file_lock import is_locked
from gossamer.library.runs import RUNS, Kind, Run, read_runs
from gossamer.node.directory import SETTINGS

MOST: Final = 1000
ITSELF: Final = "."
TIMEOUT: Final = 1.0
"""Seconds for the status of a crawl that runs."""
_AT_ONCE: Final = 16
_SAID: Final[dict[str, State]] = {"paused": "paused", "disk_full": "disk_full"}
"""What a crawl that runs may say of itself beside that it runs."""
_ENDED: Final[dict[str, State]] = {
    "finished": "finished", "limit_reached": "limit_reached", "stopped": "stopped",
    "disk_full": "disk_full", "failed": "failed", "killed": "killed",
}  # fmt: skip


class _Place(NamedTuple):
    touched: float
    """When a run of it began or ended last."""
    name: str
    directory: Path
    link: bool


def list_crawls(folder: Path) -> CrawlList:
    """UsageError: there is no such folder."""
    if not folder.is_dir():
        what = f"{folder} is a file" if folder.exists() else f"there is no folder {folder}"
        raise UsageError(
            what, do="name the folder that has the crawls, each in a folder of its own"
        )
    try:
        places = list(_places(folder))
    except OSError as error:
        raise FileError(f"cannot read {folder}: {error.strerror}") from error
    told = heapq.nlargest(MOST, places)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        rows = list(pool.map(_row, told))
    rows.sort(key=lambda row: (-(row.began or 0.0), row.name))
    return CrawlList(
        folder=readable(str(folder.absolute())), crawls=rows, left_out=len(places) - len(told)
    )


def row_of(directory: Path) -> CrawlRow:
    """Of one crawl that is there."""
    return _row(_Place(0.0, directory.name, directory, directory.is_symlink()))


def touched(directory: Path) -> float | None:
    """When the crawl in a directory began or ended last; None: there is none."""
    for name in (RUNS, SETTINGS):
        try:
            found = (directory / name).stat()
        except OSError:
            continue
        return found.st_mtime
    return None


def readable(name: str) -> str:
    """A name of a file as text, whatever its bytes are."""
    return os.fsencode(name).decode(errors="backslashreplace")


def _places(folder: Path) -> Iterator[_Place]:
    if (when := touched(folder)) is not None:
        yield _Place(when, ITSELF, folder, link=False)
    with os.scandir(folder) as entries:
        for entry in entries:
            # What begins with a dot is no crawl but what belongs to the folder.
            if entry.name.startswith(".") or not _is_directory(entry):
                continue
            directory = folder / entry.name
            if (when := touched(directory)) is not None:
                yield _Place(when, entry.name, directory, entry.is_symlink())


def _is_directory(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir()
    except OSError:
        # A link that leads to itself.
        return False


def _row(place: _Place) -> CrawlRow:
    directory = place.directory
    runs = read_runs(directory)
    last = runs[-1] if runs else None
    # Its state is taken some time before a run is written down, and by one of an old version without that.
    begun = last is not None and last.state == "running"
    running = begun or _is_held(directory)
    opening = running and not begun
    status = _status(directory) if running else None
    return CrawlRow(
        name=readable(place.name),
        kind=_kind(directory, last),
        running=running,
        state=_state(last, status, running=running),
        error="" if last is None or opening else last.error,
        pages=_pages(last, status),
        runs=last.number if last is not None else 0,
        began=None if last is None or opening else last.began,
        ended=None if last is None or opening else last.ended,
        dashboard=_address(directory) if status is not None else _view(directory, running=running),
        link=place.link,
    )


def _kind(directory: Path, last: Run | None) -> Kind:
    if last is not None:
        return last.kind
    return "cluster" if is_cluster(directory) else "crawl"


def _state(last: Run | None, status: dict[str, Any] | None, *, running: bool) -> State:
    if running:
        return _SAID.get(str((status or {}).get("activity")), "running")
    return "unknown" if last is None else _ENDED.get(last.state, "unknown")


def _pages(last: Run | None, status: dict[str, Any] | None) -> int | None:
    pages = (status or {}).get("pages")
    if isinstance(pages, int):
        return pages
    return None if last is None else last.pages_in_all


def _status(directory: Path) -> dict[str, Any] | None:
    """What a crawl that runs says of itself; None: it has no API, or does not answer at once."""
    if not is_served(directory):
        return None
    try:
        said = own_client(directory).ask("GET", "/status", timeout=TIMEOUT, patience=0.0)
    except (GossamerError, OSError):
        return None
    return said if isinstance(said, dict) else None


def _address(directory: Path) -> str | None:
    try:
        return (control_directory(directory) / "url").read_text(errors="replace").strip()
    except OSError:
        return None


def _view(directory: Path, *, running: bool) -> str | None:
    """Where somebody has it open in `gossamer open`."""
    # An address may be copied with a directory, or left by a process that was killed; a lock cannot.
    if running or not is_served(directory) or not is_locked(control_directory(directory)):
        return None
    return _address(directory)


def _is_held(directory: Path) -> bool:
    """Whether a process works on the state; `gossamer open` and other looks only share it."""
    states = [directory / "state", *sorted((directory / "nodes").glob("*/state"))]
    return any(is_locked(state / "lock") for state in states)
