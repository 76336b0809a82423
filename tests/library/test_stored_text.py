"""Stored pages as text: decoded, cut, and with nothing in it that anything obeys."""

import gzip
from pathlib import Path

import pytest

from gossamer.library.stored_text import SHOWN, stored_text, warc_name

URL = "http://a.test/page"


def record(kind: bytes, headers: bytes) -> bytes:
    fields = (
        b"WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-000000000001>\r\n"
        b"WARC-Date: 2026-11-17T18:00:00Z\r\nWARC-Target-URI: " + URL.encode() + b"\r\n"
        b"Content-Type: application/http;msgtype=response\r\nContent-Length: %d\r\n\r\n"
    )
    block = b"HTTP/1.1 200 OK\r\n" + headers + b"\r\n" + kind
    return gzip.compress(fields % len(block) + block + b"\r\n\r\n")


@pytest.fixture
def warc(tmp_path: Path) -> Path:
    (tmp_path / "warc").mkdir()
    return tmp_path / "warc" / "gossamer-20261117180000-00007-ab.warc.gz.open"


@pytest.mark.parametrize(
    ("body", "headers", "text"),
    [
        ("<p>grün".encode(), b"Content-Type: text/html; charset=utf-8\r\n", "<p>grün"),
        (b"a\x00\x1b[31mb\x9b\n\tc", b"Content-Type: text/plain\r\n", "a\ufffd\ufffd[31mb\ufffd\n\tc"),
        ("a\u202eb".encode(), b"Content-Type: text/plain\r\n", "a\ufffdb"),
        (gzip.compress(b"packed", mtime=0), b"Content-Type: text/plain\r\nContent-Encoding: gzip\r\n", "packed"),
    ],
)  # fmt: skip
def test_a_body_is_plain_text(warc: Path, body: bytes, headers: bytes, text: str) -> None:
    warc.write_bytes(record(body, headers))
    shown = stored_text(warc.parents[1], URL, 7, 0)
    assert shown is not None
    assert (shown.text, shown.cut) == (text, False)
    assert shown.head.startswith("HTTP/1.1 200 OK\nContent-Type")
    assert shown.file == warc_name(warc.parents[1], 7) == warc.name.removesuffix(".open")


def test_a_long_body_is_cut(warc: Path) -> None:
    warc.write_bytes(record(b"x" * (SHOWN + 1), b"Content-Type: text/plain\r\n"))
    shown = stored_text(warc.parents[1], URL, 7, 0)
    assert shown is not None
    assert (len(shown.text), shown.cut) == (SHOWN, True)


def test_what_is_no_text_is_said_so(warc: Path) -> None:
    warc.write_bytes(record(b"\x89PNG", b"Content-Type: image/png\r\n"))
    shown = stored_text(warc.parents[1], URL, 7, 0)
    assert shown is not None
    assert shown.text == ""
    assert shown.note.startswith("image/png is no text")


def test_a_record_of_another_url_is_not_shown(warc: Path) -> None:
    warc.write_bytes(record(b"x", b"Content-Type: text/plain\r\n"))
    assert stored_text(warc.parents[1], "http://b.test/", 7, 0) is None
    assert stored_text(warc.parents[1], URL, 8, 0) is None
    assert stored_text(warc.parents[1], URL, 7, 5) is None
