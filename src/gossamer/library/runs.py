"""The runs of a crawl, read from its directory: when each began, how it ended, what it brought.

Takes: `runs.jsonl`, a line for each begin and each end, first first (`gossamer.node.runs` writes it). Gives: a `Run` each.
Guarantees: a run that was killed is told apart from one that ended and from one that goes on, which holds a lock on
the file; a line that is cut costs only that line; a file of any length is read in bounded memory.
"""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec

from gossamer.file_lock import is_locked

RUNS: Final = "runs.jsonl"
FAILED: Final = "failed"
KILLED: Final = "killed"
RUNNING: Final = "running"
MOST: Final = 4 << 20
"""Bytes of the file that are kept and read, from its end: some 10,000 runs."""

Kind = Literal["crawl", "cluster"]
Moment = Annotated[float, msgspec.Meta(ge=0, le=253_402_300_799)]
"""Seconds since 1970, before the year 10000: what a date can be made of."""
Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]


class Begin(msgspec.Struct, kw_only=True, tag_field="what", tag="begin"):
    """A line: a run begins."""

    time: Moment
    kind: Kind
    resumed: bool
    pages: Count
    """Of all runs before."""
    version: str
    number: Count = 0
    """Which run it is, from 1; 0: by its place in the file."""


class End(msgspec.Struct, kw_only=True, tag_field="what", tag="end"):
    """A line: the run that began last has ended."""

    time: Moment
    state: str
    """What the crawl did last, as `--json` has it (`activity`), or `failed`."""
    pages: Count | None
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


def is_running(out: Path) -> bool:
    """Whether a run holds the directory."""
    return is_locked(out / RUNS)


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
    last = len(told) - 1
    return [
        _run(begin.number or at + 1, begin, end, after[at], running=running and at == last)
        for at, (begin, end) in enumerate(told)
    ]


def _run(number: int, begin: Begin, end: End | None, then: int | None, *, running: bool) -> Run:
    in_all = then if end is None or end.pages is None else end.pages
    open_ended = RUNNING if running else KILLED
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
            if size > MOST:
                lines.seek(size - MOST)
                lines.readline()
            content = lines.read(MOST)
    except OSError:
        return
    for line in content.splitlines():
        with contextlib.suppress(msgspec.MsgspecError, UnicodeDecodeError):
            yield decoder.decode(line)
