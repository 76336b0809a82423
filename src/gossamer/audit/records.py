"""WARC files as an audit reads them: every byte, and past damage to the next whole record."""

import base64
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gossamer._native import StateError, WarcReader, WarcRecord, canonical_urls, decode_body
from gossamer.audit.lines import by_serial
from gossamer.audit.report import Report
from gossamer.library.http import field, fields
from gossamer.library.pages import BODY_LIMIT

_MEMBER = b"\x1f\x8b\x08"
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Facts:
    """What an audit needs of a response or revisit record; bodies are not kept, but for robots."""

    where: str
    order: tuple[int, int]
    """The file's place in the sequence, and the offset."""
    kind: str
    uri: str
    date: str
    ip: str | None
    status: int | None
    digest: str | None
    refers_to: tuple[str, str] | None
    retry_after: str | None
    location: str | None
    robots: bytes | None
    body_length: int
    server_date: str | None = None
    """The `Date` field: what the server's clock showed."""


def is_robots(url: str) -> bool:
    """Whether a URL is the place of a host's robots file."""
    parts = url.split("/", 3)
    return len(parts) == 4 and parts[3] == "robots.txt"


def warc_parts(root: Path) -> list[Path]:
    patterns = ("warc/*.warc.gz", "warc/*.warc.gz.open")
    return by_serial([file for pattern in patterns for file in root.glob(pattern)])


class Records:
    """The response and revisit records of one node, in the order of writing."""

    def __init__(self, root: Path, report: Report) -> None:
        self._root = root
        self._report = report
        self.files = warc_parts(root)
        self.has_open = any(file.suffix == ".open" for file in self.files)
        self.wanted: set[str] = set()
        """URLs besides /robots.txt whose bodies are robots files: targets of redirects."""
        self.total = sum(_size(file) for file in self.files)
        self.position = 0
        """Bytes read so far, of `total`."""

    def __iter__(self) -> Iterator[Facts]:
        before = 0
        for number, file in enumerate(self.files):
            for facts in self._read_file(number, file):
                self.position = before + facts.order[1]
                yield facts
            before += _size(file)
        self.position = before
        unfinished = [file.name for file in self.files if file.suffix == ".open"]
        if unfinished:
            self._report.note(
                f"not finished: {', '.join(unfinished[:5])} "
                "(the crawl runs, or was killed and not yet resumed)"
            )
        for name in unfinished[:-1]:
            self._report.violation("warc_damaged", name, "only the last file may be unfinished")

    def _read_file(self, number: int, file: Path) -> Iterator[Facts]:
        path = file
        if not path.exists() and path.suffix == ".open":
            path = path.with_suffix("")  # Finished since the audit began.
        name = str(file.relative_to(self._root))
        offset: int | None = 0
        main = ""
        while offset is not None:
            reader = WarcReader(path, offset=offset, body_limit=BODY_LIMIT)
            try:
                record = next(reader, None)
                while record is not None:
                    where = f"{name} at {offset}"
                    offset += record.length
                    self._report.records += 1
                    if record.kind in {"response", "revisit"}:
                        main = record.record_id
                        yield self._facts((number, record.offset), where, record)
                    elif record.kind != "warcinfo" and record.concurrent_to != main:
                        self._report.violation(
                            "record_foreign", where, f"a {record.kind} record beside no visit"
                        )
                    record = next(reader, None)
                offset = None
            except StateError as error:
                offset, main = self._pass(file, path, offset or 0, error), ""

    def _pass(self, file: Path, path: Path, offset: int, error: StateError) -> int | None:
        """Tells of damage; gives the next whole record, if there is one."""
        name = str(file.relative_to(self._root))
        after = _next_member(path, offset + 1)
        if after is None and file.suffix == ".open":
            self._report.note(f"{name}: half a record at its end, {offset} bytes are whole")
        else:
            self._report.violation("warc_damaged", f"{name} at {offset}", str(error))
        return after

    def _facts(self, order: tuple[int, int], where: str, record: WarcRecord) -> Facts:
        body = record.body or b""
        self._report.bytes += len(body)
        uri = record.uri or ""
        digest = record.payload_digest
        if record.kind == "response" and digest != sha1(body):
            self._report.violation("digest", where, f"{uri}: {digest} is not of this body")
        head = fields(record.head)
        refers = (record.refers_to_uri, record.refers_to_date)
        keep = record.kind == "response" and (is_robots(uri) or uri in self.wanted)
        location = field(head, "location")
        if keep and location and record.status and 300 <= record.status < 400:
            self.wanted.update(_target(uri, location))
        return Facts(
            where=where,
            order=order,
            kind=record.kind,
            uri=uri,
            date=record.date,
            ip=record.ip,
            status=record.status,
            digest=digest,
            refers_to=(refers[0], refers[1]) if refers[0] and refers[1] else None,
            retry_after=field(head, "retry-after"),
            location=location,
            robots=_text(body, field(head, "content-encoding")) if keep else None,
            body_length=len(body),
            server_date=field(head, "date"),
        )


def sha1(body: bytes) -> str:
    """A digest as WARC files spell it."""
    return "sha1:" + base64.b32encode(hashlib.sha1(body, usedforsecurity=False).digest()).decode()


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0


def _target(uri: str, location: str) -> list[str]:
    return [url for url, _ in canonical_urls([location], uri) if url]


def _text(body: bytes, coding: str | None) -> bytes:
    return decode_body(body, coding, 1 << 20)[0] if coding else body


def _next_member(path: Path, offset: int) -> int | None:
    """The first place from `offset` on where a whole record begins."""
    with path.open("rb") as file:
        file.seek(offset)
        at, before = offset, b""
        while chunk := file.read(_CHUNK):
            text = before + chunk
            start = at - len(before)
            found = text.find(_MEMBER)
            while found >= 0:
                try:
                    if next(WarcReader(path, offset=start + found), None) is not None:
                        return start + found
                except StateError:
                    pass
                found = text.find(_MEMBER, found + 1)
            at += len(chunk)
            before = text[-2:]
    return None
