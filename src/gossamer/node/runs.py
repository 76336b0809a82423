"""The runs of a crawl: each start of it in a directory, until it ended, with what it brought.

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
from typing import Final, Literal

import msgspec

import gossamer
from gossamer.errors import FileError, StateInUseError

RUNS: Final = "runs.jsonl"
FAILED: Final = "failed"
_TRIES: Final = 100
_LONG: Final = 1000
"""Characters of an error that are kept."""
_MOST: Final = 4 << 20
"""Bytes of the file that are read, from its end: some 10,000 runs."""

Kind = Literal["crawl", "cluster"]


class Begin(msgspec.Struct, kw_only=True, tag_field="what", tag="begin"):
    """A line: a run begins."""

    time: float
    kind: Kind
    resumed: bool
    pages: int
    """Of all runs before."""
    version: str


class End(msgspec.Struct, kw_only=True, tag_field="what", tag="end"):
    """A line: the run that began last has ended."""

    time: float
    state: str
    """What the crawl did last, as `--json` has it (`activity`), or `failed`."""
    pages: int | None
    """Of all runs, this one included; None: it failed, and nobody knows."""
    error: str = ""


class Run(msgspec.Struct, kw_only=True):
    """A run, as it is told."""

    number: int
    kind: Kind
    resumed: bool
    version: str
    began: float
    ended: float | None
    """None: it goes on, or nobody knows when it was killed."""
    state: str
    """`running`; `finished`, `limit_reached`, `stopped`, `disk_full`, `failed`; `killed`."""
    pages: int | None
    """That it brought; None: not known (yet)."""
    pages_in_all: int | None
    """Of the crawl, when it ended."""
    error: str = ""


class RunRecord:
    """The run that goes on in a directory, being written down."""

    def __init__(self, out: Path, kind: Kind, *, resumed: bool) -> None:
        self._file = out / RUNS
        self._kind: Kind = kind
        self._resumed = resumed
        self._handle: int | None = None

    def begin(self, *, pages: int) -> None:
        """To be called when the crawl is ours. `pages`: of the runs before."""
        try:
            handle = os.open(self._file, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise FileError(f"cannot write {self._file}: {error.strerror}") from error
        if not _locked(handle):
            os.close(handle)
            raise StateInUseError(
                f"{self._file.parent} holds a crawl that is running",
                do="end that with Ctrl-C, or choose another --out",
            )
        self._handle = handle
        self._write(
            Begin(
                time=time.time(),
                kind=self._kind,
                resumed=self._resumed,
                pages=pages,
                version=gossamer.__version__,
            )
        )

    def end(self, state: str, *, pages: int | None = None, error: str = "") -> None:
        """Nothing, if the run did not begin or has ended. `pages`: of all runs; None: nobody knows."""
        if self._handle is None:
            return
        self._write(End(time=time.time(), state=state, pages=pages, error=error[:_LONG]))
        os.close(self._handle)
        self._handle = None

    def _write(self, line: Begin | End) -> None:
        if self._handle is None:
            return
        # A full disk ends no crawl for the sake of its history.
        with contextlib.suppress(OSError):
            cut = b"" if _ends_whole(self._handle) else b"\n"
            os.write(self._handle, cut + msgspec.json.encode(line) + b"\n")
            os.fsync(self._handle)


@contextlib.contextmanager
def recorded(out: Path, kind: Kind, *, resumed: bool) -> Iterator[RunRecord]:
    """A run, to be begun and ended within the block; what breaks off the block is its end."""
    record = RunRecord(out, kind, resumed=resumed)
    try:
        yield record
    except BaseException as error:
        record.end(FAILED, error=str(error) or type(error).__name__)
        raise


def is_running(out: Path) -> bool:
    """Whether a run holds the directory. Also where it may only be read."""
    try:
        handle = os.open(out / RUNS, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(handle)
    return False


def read_runs(out: Path, *, pages: int | None = None) -> list[Run]:
    """The runs of a directory, first first; none of a crawl that was made before runs were written down.

    `pages`: how many the crawl has, if the caller knows; a run that was killed did not tell its own.
    """
    # Before the lines: a run that ends meanwhile has its end among them.
    running = is_running(out)
    told: list[tuple[Begin, End | None]] = []
    for line in _lines(out / RUNS):
        if isinstance(line, Begin):
            told.append((line, None))
        elif told and told[-1][1] is None:
            told[-1] = (told[-1][0], line)
    # What a killed run brought is seen at the start of the next.
    after: list[int | None] = [*(begin.pages for begin, _ in told[1:]), pages]
    return [
        _run(number, begin, end, after[number - 1], running=running and number == len(told))
        for number, (begin, end) in enumerate(told, start=1)
    ]


def _run(number: int, begin: Begin, end: End | None, then: int | None, *, running: bool) -> Run:
    in_all = then if end is None or end.pages is None else end.pages
    open_ended = "running" if running else "killed"
    return Run(
        number=number,
        kind=begin.kind,
        resumed=begin.resumed,
        version=begin.version,
        began=begin.time,
        ended=None if end is None else end.time,
        state=open_ended if end is None else end.state,
        pages=None if in_all is None else max(0, in_all - begin.pages),
        pages_in_all=in_all,
        error="" if end is None else end.error,
    )


def _lines(file: Path) -> Iterator[Begin | End]:
    decoder = msgspec.json.Decoder(Begin | End)
    try:
        with file.open("rb") as lines:
            size = os.fstat(lines.fileno()).st_size
            if size > _MOST:
                lines.seek(size - _MOST)
                lines.readline()
            content = lines.read(_MOST)
    except OSError:
        return
    for line in content.splitlines():
        with contextlib.suppress(msgspec.MsgspecError):
            yield decoder.decode(line)


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
