"""Stored pages read back from WARC files."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gossamer._native import StateError, WarcReader, WarcRecord
from gossamer.library.files import warc_files

# Larger than any body that the fetcher keeps by default.
BODY_LIMIT = 256 << 20


@dataclass(frozen=True, slots=True)
class Page:
    """A response or revisit record with its place."""

    file: Path
    record: WarcRecord


def read_pages(out: Path, *, bodies: bool = False, body_limit: int = BODY_LIMIT) -> Iterator[Page]:
    """Every response and revisit of the crawl in `out`; their bodies only if wanted."""
    for path in warc_files(out):
        reader = WarcReader(path, body_limit=body_limit if bodies else None)
        while True:
            try:
                record = next(reader, None)
            except StateError:
                # The end of a file still being written may be half a record.
                if path.suffix == ".open":
                    break
                raise
            if record is None:
                break
            if record.kind in {"response", "revisit"}:
                yield Page(path, record)


def read_page(path: Path, offset: int, *, body_limit: int = BODY_LIMIT) -> WarcRecord:
    """The record at `offset`, with its body."""
    record = next(WarcReader(path, offset=offset, body_limit=body_limit), None)
    if record is None:
        raise StateError(f"{path} ends before offset {offset}")
    return record
