"""The runs of a crawl, written down: each start of it in a directory, until it ended, with what it brought.

Takes: the directory, and the counters when a run begins and ends. Gives: `runs.jsonl`, a line for each begin and each
end, first first. Guarantees: a run that was killed has a begin and no end, so it is told apart from one that ended;
whoever runs holds a lock on the file for as long as he lives, so one that runs is told apart from one that was killed;
a line cut by a power cut costs only that line.
"""

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

import gossamer
from gossamer.errors import StateInUseError
from gossamer.library.runs import FAILED, MOST, RUNS, Begin, End, Kind, is_running, read_runs
from gossamer.logging import logger

_log = logger("runs")

_TRIES: Final = 100
_LONG: Final = 1000
"""Characters of an error that are kept."""


class RunRecord:
    """The run that goes on in a directory, being written down."""

    def __init__(self, out: Path, kind: Kind, *, resumed: bool) -> None:
        self._file = out / RUNS
        self._kind: Kind = kind
        self._resumed = resumed
        self._handle: int | None = None
        self._begun = False

    def hold(self) -> None:
        """Takes the lock; refused if a run has it. Where no file can be written the crawl goes on without a history."""
        try:
            handle = os.open(self._file, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            _log.warning("this run is not written down", file=str(self._file), why=error.strerror)
            return
        if not _locked(handle):
            os.close(handle)
            raise _in_use(self._file.parent)
        self._handle = handle

    def begin(self, *, pages: int) -> None:
        """To be called when the crawl is ours. `pages`: of the runs before."""
        if self._handle is None:
            self.hold()
        before = read_runs(self._file.parent)
        self._shorten()
        self._begun = self._write(
            Begin(
                time=time.time(),
                kind=self._kind,
                resumed=self._resumed,
                pages=pages,
                version=gossamer.__version__,
                number=before[-1].number + 1 if before else 1,
            )
        )

    def end(self, state: str, *, pages: int | None = None, error: str = "") -> None:
        """Nothing, if the run did not begin or has ended. `pages`: of all runs; None: nobody knows."""
        if self._handle is None:
            return
        # An end without its begin would be taken for that of the run before.
        if self._begun:
            self._write(End(time=time.time(), state=state, pages=pages, error=error[:_LONG]))
        self._begun = False
        os.close(self._handle)
        self._handle = None

    def _shorten(self) -> None:
        """Of a file that is too long the last quarter is kept; its first line may be half a one, which costs only itself."""
        if self._handle is None:
            return
        with contextlib.suppress(OSError):
            size = os.fstat(self._handle).st_size
            if size > MOST:
                kept = os.pread(self._handle, MOST // 4, size - MOST // 4)
                os.ftruncate(self._handle, 0)
                os.write(self._handle, kept)

    def _write(self, line: Begin | End) -> bool:
        if self._handle is None:
            return False
        try:
            cut = b"" if _ends_whole(self._handle) else b"\n"
            os.write(self._handle, cut + msgspec.json.encode(line) + b"\n")
            os.fsync(self._handle)
        except OSError as error:
            # A full disk ends no crawl for the sake of its history.
            _log.warning("this run is not written down", file=str(self._file), why=error.strerror)
            return False
        return True


@contextlib.contextmanager
def recorded(out: Path, kind: Kind, *, resumed: bool) -> Iterator[RunRecord]:
    """A run, to be begun and ended within the block; what breaks off the block is its end."""
    record = RunRecord(out, kind, resumed=resumed)
    try:
        yield record
    except BaseException as error:
        record.end(FAILED, error=str(error) or type(error).__name__)
        raise


def check_free(out: Path) -> None:
    """Refuses a directory in which a run goes on, before anything is changed there."""
    if is_running(out):
        raise _in_use(out)


def _in_use(out: Path) -> StateInUseError:
    return StateInUseError(
        f"{out} holds a crawl that is running", do="end that with Ctrl-C, or choose another --out"
    )


def _locked(handle: int) -> bool:
    """Somebody who looks whether it is free holds it for an instant."""
    for _ in range(_TRIES):
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        time.sleep(0.01)
    return False


def _ends_whole(handle: int) -> bool:
    size = os.fstat(handle).st_size
    return size == 0 or os.pread(handle, 1, size - 1) == b"\n"
