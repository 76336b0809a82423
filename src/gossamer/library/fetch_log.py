"""The fetch log read back: a typed line per visit."""

import contextlib
from collections import deque
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Final

import msgspec

from gossamer.library.files import log_files

MAX_LINE: Final = 1 << 20
"""Bytes; no line is longer."""


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
    purpose: str | None = None
    """What it is, where that is no page: `robots`, `sitemap`."""
    visited: bool = True
    """False: the URL left the queue without a visit."""
    left_out: dict[str, int] = {}
    """Links of the page that were not followed, by reason."""

    @property
    def of_page(self) -> bool:
        """Whether it is about a page: no robots file, no sitemap, no name that cannot exist."""
        return self.purpose is None and self.soft_404 != "probe"


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


def find_visits(out: Path, urls: Collection[str], most: int) -> dict[str, list[LogLine]]:
    """The last `most` visits to each URL in the order of writing, from the whole log, which is read once.

    Damage is passed over. Only lines in which one of the URLs stands are read as JSON, so a gigabyte takes seconds.
    """
    decode = msgspec.json.Decoder(LogLine).decode
    texts = [url.encode() for url in urls]
    # Spelt in another way in JSON, every line is looked into.
    are_plain = all(is_plain_json(url) for url in urls)
    last: dict[str, deque[LogLine]] = {url: deque(maxlen=most) for url in urls}
    for path in log_files(out):
        with path.open("rb") as file:
            for line in file:
                if are_plain and not any(text in line for text in texts):
                    continue
                with contextlib.suppress(msgspec.MsgspecError):
                    found = decode(line)
                    if found.url in last:
                        last[found.url].append(found)
    return {url: sorted(lines, key=lambda line: line.time) for url, lines in last.items()}


def is_plain_json(text: str) -> bool:
    """Whether JSON writes it as it is."""
    return text.isascii() and text.isprintable() and not set(text) & set('"\\')


def last_moment(out: Path, committed: Mapping[Path, int] | None = None) -> float | None:
    """When the last visit ended, from the ends of the log files; None: there was none.

    `committed`: the bytes that count of files of which not all does.
    """
    decode = msgspec.json.Decoder(LogLine).decode
    found: list[float] = []
    for path in log_files(out):
        with path.open("rb") as file:
            end = (committed or {}).get(path, file.seek(0, 2))
            begin = file.seek(max(0, end - MAX_LINE))
            lines = file.read(end - begin).splitlines()
        for text in reversed(lines):
            with contextlib.suppress(msgspec.MsgspecError, ValueError):
                line = decode(text)
                begun = datetime.fromisoformat(line.time).timestamp()
                found.append(begun + (line.ms or 0.0) / 1000)
                break
    return max(found, default=None)


class LogReading:
    """The log of a crawl read once, also while it is written: as long as it was at the start.

    Damaged lines are counted and passed over; `gossamer audit` names them. `committed`: the bytes that count of
    files of which not all does.
    """

    def __init__(self, out: Path, committed: Mapping[Path, int] | None = None) -> None:
        self._out = out
        ends = committed or {}
        self._files = [(file, ends.get(file, file.stat().st_size)) for file in log_files(out)]
        self.total = sum(size for _, size in self._files)
        """Bytes to be read."""
        self.done = 0
        self.damaged = 0
        self.node: str | None = None
        """The node of a cluster that wrote the last line; None: a standalone crawl's."""

    def __iter__(self) -> Iterator[LogLine]:
        decode = msgspec.json.Decoder(LogLine).decode
        for path, size in self._files:
            home = path.parent.parent
            self.node = None if home == self._out else home.name
            end = self.done + size
            with path.open("rb") as file:
                while self.done < end:
                    text = file.readline(min(end - self.done, MAX_LINE))
                    if not text:
                        break
                    self.done += len(text)
                    try:
                        line = decode(text)
                    except msgspec.MsgspecError:
                        # The last line may not be written to its end.
                        self.damaged += text.endswith(b"\n")
                        continue
                    yield line
            self.done = end
