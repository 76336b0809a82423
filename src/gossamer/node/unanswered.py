"""A crawl to which no page answered: cleared away for the corrected command, or its seeds tried again by `--resume`.

Somebody who forgot `--allow-private` or mistyped a name has a directory with some failures in its log and nothing to
keep. Guarantees: log and WARC files must agree that there is nothing, neither a page nor an answer such as a 404, and
the caller asks the state as well; a directory whose crawl runs, or is looked at, is not touched; of one that is cleared
only the files of the crawl go, and the locks of its states are held from before the check until the end.
"""

import contextlib
import fcntl
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from gossamer._native import StateError, WarcReader
from gossamer.counts import PAGES
from gossamer.errors import FileError, StateInUseError
from gossamer.library import log_files, warc_files
from gossamer.library.fetch_log import LogLine, LogReading
from gossamer.library.runs import RUNS
from gossamer.node.directory import SEEDS, SETTINGS
from gossamer.pid_file import is_alive

PARTS: Final = (
    "warc",
    "log",
    "nodes",
    "engine",
    "snapshots",
    "control",
    "state",
    RUNS,
    SEEDS,
    SETTINGS,
)
"""All that a crawl writes. The settings go last: a directory with settings and no state is a crawl still."""
_BROUGHT: Final = PAGES | {"not_modified", "dropped"}


def is_ours(out: Path) -> bool:
    """Whether there is a crawl that has all its parts here. Of a cluster with engines elsewhere they are not."""
    engine_is_here = not (out / "nodes").exists() or (out / "engine").exists()
    return (out / SETTINGS).exists() and bool(log_files(out)) and engine_is_here


def clear_unanswered(out: Path) -> int | None:
    """Clears a crawl without an answer away; gives how many visits it had made. None: there is something to keep."""
    with _held(out):
        visits = unanswered_visits(out)
        if not visits:
            return None
        try:
            for name in PARTS:
                _remove(out / name)
        except OSError as error:
            raise FileError(
                f"cannot clear away the crawl without a page in {out}: {error.strerror}",
                do="remove the directory, or choose another --out",
            ) from error
    return visits


def lost_seeds(out: Path) -> list[str]:
    """The seeds of a crawl without a page, as its log has them; none of a crawl that has one."""
    seeds: dict[str, None] = {}
    for line in LogReading(out):
        if line.of_page and line.outcome in _BROUGHT:
            return []
        if line.of_page and line.depth == 0 and line.from_url is None:
            seeds[line.url] = None
    return list(seeds)


def unanswered_visits(out: Path) -> int:
    """The visits of a crawl without an answer; 0: there is one, or the files cannot tell."""
    reading, visits = LogReading(out), 0
    others: set[str] = set()
    for line in reading:
        visits += line.visited
        if line.of_page and _is_answer(line):
            return 0
        if not line.of_page:
            others.add(line.url)
    return 0 if reading.damaged or _has_records(out, others) else visits


def _is_answer(line: LogLine) -> bool:
    return line.status is not None or line.outcome in _BROUGHT


def _has_records(out: Path, others: set[str]) -> bool:
    """Whether WARC files have an answer that is none of `others`, or cannot be read."""
    try:
        return any(
            record.kind in {"response", "revisit"} and (record.uri or "") not in others
            for file in warc_files(out)
            for record in WarcReader(file, body_limit=0)
        )
    except (StateError, OSError):
        return True


@contextlib.contextmanager
def _held(out: Path) -> Iterator[None]:
    """Holds the state of each node, as a node that runs would."""
    with contextlib.ExitStack() as stack:
        for state in [out / "state", *sorted((out / "nodes").glob("*/state"))]:
            if not state.is_dir():
                continue
            file = stack.enter_context((state / "lock").open("ab"))
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise in_use(out) from None
        if is_alive(out / "control" / "pid"):
            raise in_use(out)
        yield


def in_use(out: Path) -> StateInUseError:
    return StateInUseError(
        f"{out} holds a crawl that is running, or open in `gossamer open`",
        do="end that with Ctrl-C, or choose another --out",
    )


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
