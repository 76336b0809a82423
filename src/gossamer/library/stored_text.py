"""A stored page as text to look at: decoded, cut, and without anything that a terminal or browser obeys."""

import contextlib
from pathlib import Path
from typing import Final

import msgspec

from gossamer._native import StateError, WarcRecord, decode_body, parse_page
from gossamer.library.files import warc_files
from gossamer.library.http import Fields, field, fields
from gossamer.library.pages import read_page

SHOWN: Final = 128 * 1024
"""Characters."""
BODY: Final = 4 * 1024 * 1024
"""Bytes of a body that are read; those after them are not shown in any case."""

_TEXT: Final = ("text/", "application/json", "application/xml", "application/javascript")
# Control characters and those that turn the direction of text; line ends and tabs stay.
_UNSEEN: Final = dict.fromkeys(
    [*range(9), 11, 12, *range(14, 32), *range(127, 160), 0x061C, *range(0x200E, 0x2010), *range(0x202A, 0x202F), *range(0x2066, 0x206A)],
    "\ufffd",
)  # fmt: skip


class StoredText(msgspec.Struct, frozen=True):
    """What is shown of a record."""

    file: str
    offset: int
    kind: str
    """`response`, or `revisit`: then the content is stored elsewhere."""
    media_type: str
    head: str
    """Status line and fields of the response."""
    text: str
    """Empty: there is no text to show."""
    cut: bool
    note: str = ""


def warc_name(directory: Path, serial: int) -> str | None:
    """The file with that number in a node's directory."""
    found = [file.name for file in warc_files(directory) if f"-{serial:05}-" in file.name]
    return found[-1].removesuffix(".open") if found else None


def stored_text(directory: Path, url: str, serial: int, offset: int) -> StoredText | None:
    """The record of a URL; None: there is none of this URL at that place."""
    for file in warc_files(directory):
        if f"-{serial:05}-" not in file.name:
            continue
        with contextlib.suppress(StateError, OSError):
            record = read_page(file, offset, body_limit=BODY)
            if record.uri == url:
                return _shown(file.name.removesuffix(".open"), record)
    return None


def _shown(file: str, record: WarcRecord) -> StoredText:
    head = fields(record.head)
    media_type = (record.mime or "").lower()
    text, cut, note = "", False, ""
    if record.kind == "revisit":
        note = f"the same content is stored under {record.refers_to_uri or 'another URL'}"
    elif record.body is None or not record.body:
        note = "the answer has no body, or none was kept"
    elif (
        media_type.startswith(_TEXT)
        or "+xml" in media_type
        or "+json" in media_type
        or not media_type
    ):
        text, cut = _decoded(record, record.body, head)
    else:
        note = f"{media_type} is no text; `gossamer export` gives the bytes"
    return StoredText(
        file=file, offset=record.offset, kind=record.kind, media_type=media_type,
        head=_plain(record.head[:SHOWN].decode("latin-1")), text=text, cut=cut, note=_plain(note),
    )  # fmt: skip


def _decoded(record: WarcRecord, body: bytes, head: Fields) -> tuple[str, bool]:
    cut = record.body_length > len(body)
    coding, content_type = field(head, "content-encoding"), field(head, "content-type")
    if coding:
        with contextlib.suppress(ValueError):
            body, whole = decode_body(body, coding, BODY)
            cut = cut or not whole
    charset = "utf-8"
    if "html" in (record.mime or ""):
        charset = parse_page(body[:SHOWN], record.uri or "http://x/", content_type).charset
    try:
        text = body.decode(charset, "replace")
    except LookupError:
        text = body.decode("utf-8", "replace")
    return _plain(text[:SHOWN]), cut or len(text) > SHOWN


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").translate(_UNSEEN)
