"""A crawl that brought no page: cleared away for the corrected command, or its seeds tried again by `--resume`.

Somebody who forgot `--allow-private` or mistyped a name has a directory with some failures in its log and
nothing to keep. Guarantees: a directory with a page, or whose crawl runs, is not touched; of one that is cleared
only the files of the crawl go, and the lock of its state is held meanwhile.
"""

import contextlib
import fcntl
import shutil
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from gossamer.errors import FileError, StateInUseError
from gossamer.library import log_files
from gossamer.library.fetch_log import LogLine, LogReading
from gossamer.node.directory import SEEDS, SETTINGS
from gossamer.node.pid_file import is_alive

PARTS: Final = ("warc", "log", "nodes", "engine", "snapshots", "control", "state", SEEDS, SETTINGS)
"""All that a crawl writes. The settings go last: a directory with settings and no state is a crawl still."""
_KEPT: Final = 1_000_000
"""Lines in memory; a crawl without a page makes few visits."""
_PAGES: Final = frozenset({"fetched", "truncated", "duplicate", "not_modified", "dropped"})


def clear_fruitless(out: Path) -> int | None:
    """Clears a crawl without a page away; gives how many visits it had made. None: there was no such crawl."""
    if not (out / SETTINGS).exists() or not log_files(out):
        return None
    if (out / "nodes").exists() and not (out / "engine").exists():
        # Part of it is on servers that are not ours.
        return None
    lines = _fruitless_lines(out)
    if lines is None:
        return None
    with _held(out):
        try:
            for name in PARTS:
                _remove(out / name)
        except OSError as error:
            raise FileError(
                f"cannot clear away the crawl without a page in {out}: {error.strerror}",
                do="remove the directory, or choose another --out",
            ) from error
    return len(lines)


def fruitless_seeds(out: Path) -> list[str]:
    """The seeds of a crawl without a page, as its log has them; none of a crawl that has one."""
    lines = _fruitless_lines(out) or []
    seeds = [line for line in lines if line.of_page and line.depth == 0 and line.from_url is None]
    return list(dict.fromkeys(line.url for line in seeds))


def _fruitless_lines(out: Path) -> list[LogLine] | None:
    """The visits of a crawl without a page, the last ones of very many; None: there is a page, or the log is damaged."""
    lines: deque[LogLine] = deque(maxlen=_KEPT)
    reading = LogReading(out)
    for line in reading:
        if line.of_page and line.outcome in _PAGES:
            return None
        lines.append(line)
    return None if reading.damaged else list(lines)


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
                raise StateInUseError(
                    f"{out} holds a crawl that is running",
                    do="end it with Ctrl-C, or choose another --out",
                ) from None
        if is_alive(out / "control" / "pid"):
            raise StateInUseError(
                f"{out} holds a crawl whose control node is running",
                do="end it, or choose another --out",
            )
        yield


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
