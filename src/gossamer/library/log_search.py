"""The fetch log from its end: lines that match, newest first, a bounded look at a time.

Takes a directory with a fetch log, what is wanted, and where the last look ended. Guarantees that a look reads
at most `LOOK` bytes and gives at most `ANSWER` bytes of lines, whatever the size of the log; where it ended, the
next look goes on. Lines stand in the order of writing, which is that of their times but for some seconds.
"""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Final

import msgspec

from gossamer.library.fetch_log import LogLine, is_plain_json
from gossamer.library.files import log_files

LOOK: Final = 16 * 1024 * 1024
ANSWER: Final = 256 * 1024
CHUNK: Final = 1024 * 1024
LONGEST: Final = 4 * CHUNK
"""Bytes of what may be a line."""
DISORDER: Final = 300.0
"""Seconds by which a line may stand before one that is older: a visit is written when it ends."""

Place = tuple[str, int]
"""A file's name, and a byte in it: lines that end there or before."""

_decode = msgspec.json.Decoder(LogLine).decode


class Wanted(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which lines. Absent: any."""

    outcome: str | None = None
    host: str | None = None
    url: str | None = None
    status: int | None = None
    text: str = ""
    """Part of the URL, in any case."""
    since: float | None = None
    until: float | None = None


class Found(msgspec.Struct, frozen=True):
    """Lines, newest first."""

    lines: list[LogLine]
    places: list[Place]
    """Where a look goes on after each of them."""
    next: Place | None
    """Where a look goes on after this one; None: the log begins here."""
    reached: str | None
    """The time of the oldest line that was looked at."""


def search_log(out: Path, wanted: Wanted, before: Place | None, most: int) -> Found:
    """A look from `before` on, or from the end."""
    files = log_files(out)
    start = before or _place_of(files, wanted.until)
    lines: list[LogLine] = []
    places: list[Place] = []
    looked = given = timed = 0
    reached: str | None = None
    match = _Match(wanted)
    for file, place, raw in _backwards(files, start):
        looked += len(raw) + 1
        here = (file.name, place)
        over = looked >= LOOK
        # The time of a line that does not fit is looked at now and then: the search must end also where none fits.
        line = _line(raw) if over or looked - timed >= CHUNK or match.may(raw) else None
        if line is not None:
            reached, timed = line.time, looked
            if wanted.since is not None and _before(line.time, wanted.since - DISORDER):
                return Found(lines, places, None, reached)
            if match.fits(line):
                lines.append(line)
                places.append(here)
                given += len(raw)
        if len(lines) == most or given >= ANSWER or over:
            return Found(lines, places, here, reached)
    return Found(lines, places, None, reached)


def _line(raw: bytes) -> LogLine | None:
    try:
        return _decode(raw)
    except msgspec.MsgspecError:
        # A line that a power cut left; `audit` tells of it.
        return None


class _Match:
    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self._text = wanted.text.lower()
        words = [word for word in (wanted.outcome, wanted.host, wanted.url) if word is not None]
        # Where JSON writes it as it is, most lines need not be decoded.
        self._needles = [f'"{word}"'.encode() for word in words if is_plain_json(word)]

    def may(self, raw: bytes) -> bool:
        return all(needle in raw for needle in self._needles)

    def fits(self, line: LogLine) -> bool:
        wanted = self._wanted
        return (
            wanted.outcome in {None, line.outcome}
            and wanted.host in {None, line.host}
            and wanted.url in {None, line.url}
            and wanted.status in {None, line.status}
            and (not self._text or self._text in line.url.lower())
            and (wanted.since is None or _seconds(line.time) >= wanted.since)
            and (wanted.until is None or _seconds(line.time) <= wanted.until)
        )


def _seconds(time: str) -> float:
    try:
        return datetime.fromisoformat(time).timestamp()
    except ValueError:
        return 0.0


def _before(time: str, moment: float) -> bool:
    """False where it is no time: what stands before it is not hidden by a damaged line."""
    try:
        return datetime.fromisoformat(time).timestamp() < moment
    except ValueError:
        return False


def _backwards(files: list[Path], start: Place | None) -> Iterator[tuple[Path, int, bytes]]:
    """Each line without its end, with the byte where it begins, the last one first."""
    for file in reversed(files):
        if start is not None and file.name > start[0]:
            continue
        with file.open("rb") as log:
            size = log.seek(0, 2)
            end = min(size, start[1]) if start is not None and file.name == start[0] else size
            rest = b""
            first = True
            while end > 0:
                begin = max(0, end - CHUNK)
                log.seek(begin)
                block = log.read(end - begin) + rest
                if first:
                    # What comes after the last end of a line is not committed.
                    block = block[: block.rfind(b"\n") + 1]
                    first = not block
                head = 0 if begin == 0 else block.find(b"\n") + 1
                yield from _lines(file, begin, block, head)
                # The first line of a block may have its beginning in the one before.
                rest = block[:head]
                if head > LONGEST:
                    # No line is so long: a hole that a power cut left. It is passed over.
                    rest, first = b"", True
                end = begin


def _lines(file: Path, begin: int, block: bytes, head: int) -> Iterator[tuple[Path, int, bytes]]:
    end = len(block) - 1
    while end > head:
        line = block.rfind(b"\n", head, end) + 1
        line = max(line, head)
        yield file, begin + line, block[line:end]
        end = line - 1


def _place_of(files: list[Path], until: float | None) -> Place | None:
    """A place after every line that is not later than that; None: the end of the log."""
    if until is None:
        return None
    latest = until + DISORDER
    for file in reversed(files):
        with file.open("rb") as log:
            size = log.seek(0, 2)
            low, high = 0, size
            log.seek(0)
            if _later(log.readline(), latest):
                continue
            while high - low > CHUNK:
                middle = (low + high) // 2
                log.seek(middle)
                log.readline()
                if _later(log.readline(), latest):
                    high = middle
                else:
                    low = middle
            if high == size:
                return file.name, size
            log.seek(high)
            log.readline()
            return file.name, log.tell()
    return (files[0].name, 0) if files else None


def _later(raw: bytes, latest: float) -> bool:
    line = _line(raw)
    return line is not None and _seconds(line.time) > latest
