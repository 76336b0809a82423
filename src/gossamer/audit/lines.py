"""The fetch log as an audit reads it: in the order of writing, damage told and passed over.

A crawl can be audited while it runs: only what stood in the log at the start is read, and all of
that has its records, because records are written first.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec

from gossamer._native import host as host_of
from gossamer.audit.report import Report
from gossamer.library.fetch_log import LogLine
from gossamer.policy.hosts.outcomes import FORMER, REACTIONS

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_SERIAL = re.compile(r"-(\d{5,})-")
MAX_LINE = 1 << 20


def by_serial(files: list[Path]) -> list[Path]:
    """Files of one node in the order of their numbers: the date in a name can go backwards."""

    def order(file: Path) -> tuple[int, str]:
        found = _SERIAL.search(file.name)
        return (int(found[1]) if found else -1, file.name)

    return sorted(files, key=order)


def micros(text: str) -> int:
    """Microseconds since the epoch of a time as it stands in log and WARC files."""
    return (datetime.fromisoformat(text) - _EPOCH) // _MICROSECOND


@dataclass(slots=True)
class Visit:
    """A line of the log with its times as numbers."""

    line: LogLine
    start: int
    end: int
    where: str

    @property
    def real(self) -> bool:
        """False: the URL left the queue without a visit."""
        return self.line.status is not None or self.line.ip is not None


@dataclass(frozen=True, slots=True)
class LogPart:
    """A log file, as long as it was when the audit began."""

    file: Path
    size: int

    @staticmethod
    def all_of(root: Path) -> "list[LogPart]":
        files = by_serial(list(root.glob("log/*.jsonl")))
        return [LogPart(file, file.stat().st_size) for file in files]


def read_lines(parts: list[LogPart], root: Path, report: Report) -> Iterator[Visit]:
    """Every line of one node's log."""
    for part in parts:
        yield from _read_part(part, root, report)


def _read_part(part: LogPart, root: Path, report: Report) -> Iterator[Visit]:
    decoder = msgspec.json.Decoder(LogLine)
    name = str(part.file.relative_to(root))
    left = part.size
    with part.file.open("rb") as file:
        number = 0
        while left > 0:
            text = file.readline(min(left, MAX_LINE))
            if not text:
                break
            number += 1
            left -= len(text)
            where = f"{name}, line {number}"
            if not text.endswith(b"\n"):
                if left <= 0:
                    report.note(f"{where}: not written to its end; it does not count")
                    break
                report.violation("log_damaged", where, "longer than any line can be")
                continue
            try:
                line = decoder.decode(text)
                start = micros(line.time)
                wrong = _wrong(line)
            except (msgspec.MsgspecError, ValueError, TypeError, OverflowError) as error:
                report.violation("log_damaged", where, str(error))
                continue
            if wrong:
                report.violation("log_damaged", where, wrong)
                continue
            report.lines += 1
            yield Visit(line, start, start + round((line.ms or 0.0) * 1000), where)


def _wrong(line: LogLine) -> str:
    if line.outcome not in REACTIONS and line.outcome not in FORMER:
        return f"no outcome is called {line.outcome!r}"
    if (line.ms or 0.0) < 0:
        return "a visit cannot take less than no time"
    if line.host and host_of(line.url) != line.host:
        return f"{line.url} is not on the host {line.host}"
    return ""
