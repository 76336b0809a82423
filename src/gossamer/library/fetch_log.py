"""The fetch log read back: a typed line per visit."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from gossamer.library.files import log_files


class LogLine(msgspec.Struct, frozen=True, omit_defaults=True, rename={"from_url": "from"}):
    """One visit. `None` means that the visit did not get that far."""

    time: str
    url: str
    host: str
    ip: str | None
    outcome: str
    status: int | None
    bytes: int
    ms: float | None
    depth: int
    from_url: str | None
    digest: str | None
    stored: str | None = None
    """What is kept of the answer, where that is less than all of it: `no`, or `head`."""
    reason: str | None = None
    """Why it has this outcome, where the outcome does not say."""
    robots: str | None = None
    """What the page says to robots, where that is anything: `noindex`, `nofollow`, or both."""
    soft_404: str | None = None
    """`probe`: a name that cannot exist was asked for; `yes`: the page is what the host answers then."""
    left_out: dict[str, int] = {}
    """Links of the page that were not followed, by reason."""


class LogDamagedError(Exception):
    """A line of the fetch log is not what the writer wrote."""

    def __init__(self, path: Path, line: int, reason: str) -> None:
        super().__init__(f"{path}, line {line}: {reason}")
        self.path = path
        self.line = line
        self.reason = reason


def read_log(out: Path) -> Iterator[LogLine]:
    """Every visit of the crawl in `out`, file by file, in the order of writing."""
    for path in log_files(out):
        yield from read_log_file(path)


def read_log_file(path: Path) -> Iterator[LogLine]:
    """The visits in one file. A last line without an end was not committed and does not count."""
    decoder = msgspec.json.Decoder(LogLine)
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                return
            try:
                yield decoder.decode(line)
            except msgspec.MsgspecError as error:
                raise LogDamagedError(path, number, str(error)) from error
