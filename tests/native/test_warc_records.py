"""Records, judged by warcio: digests hold, and the same bytes come back."""

import gzip
import hashlib
import io
import json
import random
import subprocess
import sys
import tempfile
from base64 import b32encode
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator
from warcio.recordloader import ArcWarcRecord

from gossamer._native import WarcReader, WarcWriter, surt, write_cdxj
from gossamer.library import read_page

URL = "http://example.org/page?a=1"
REQUEST = b"GET /page?a=1 HTTP/1.1\r\nHost: example.org\r\nUser-Agent: gossamer\r\n\r\n"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nServer: x\r\n\r\n"
NOW = 1_763_233_422_123_456


class Found:
    """A record as warcio sees it, its block as raw bytes."""

    def __init__(self, record: ArcWarcRecord) -> None:
        self.fields = record.rec_headers
        self.kind = record.rec_type
        self.block = record.raw_stream.read()

    def __getitem__(self, name: str) -> str | None:
        value: str | None = self.fields.get_header(name)
        return value


def warcio_records(path: Path) -> Iterator[Found]:
    with path.open("rb") as file:
        for record in ArchiveIterator(file, no_record_parse=True):
            yield Found(record)


def payloads(path: Path) -> list[bytes]:
    """What a user of warcio sees as body, content coding removed."""
    with path.open("rb") as file:
        iterator = ArchiveIterator(file, check_digests="raise")
        return [r.content_stream().read() for r in iterator if r.rec_type == "response"]


def check(*paths: Path) -> None:
    """`warcio check` finds nothing to say."""
    done = subprocess.run(
        [sys.executable, "-m", "warcio.cli", "check", *map(str, paths)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def only_file(folder: Path) -> Path:
    (path,) = folder.iterdir()
    return path


def sha1(body: bytes) -> str:
    return "sha1:" + b32encode(hashlib.sha1(body).digest()).decode()


BODIES = {
    "html": b"<html><body>" + b"text " * 4000,
    "empty": b"",
    "binary": random.Random(1).randbytes(70_000),
    "blank lines": b"\r\n\r\n" * 100,
    "looks like a record": b"WARC/1.1\r\nContent-Length: 5\r\n\r\nhello\r\n\r\n",
    "looks like chunks": b"5\r\nhello\r\n0\r\n\r\n",
    "16 MB": random.Random(2).randbytes(1 << 20) * 16,
}


@pytest.mark.parametrize("block_digest", [False, True])
@pytest.mark.parametrize("name", BODIES)
def test_visit_reads_back_to_the_same_bytes(tmp_path: Path, name: str, block_digest: bool) -> None:
    body = BODIES[name]
    writer = WarcWriter(tmp_path, block_digest=block_digest)
    places = writer.append_visit(URL, NOW, REQUEST, HEAD, body, ip="192.0.2.1")
    writer.close()
    path = only_file(tmp_path)
    check(path)
    info, response, request = warcio_records(path)
    assert (info.kind, response.kind, request.kind) == ("warcinfo", "response", "request")
    assert response.block == HEAD + body
    assert request.block == REQUEST
    assert response["WARC-Target-URI"] == request["WARC-Target-URI"] == URL
    assert response["WARC-Date"] == "2025-11-15T19:03:42.123456Z"
    assert response["WARC-IP-Address"] == "192.0.2.1"
    assert response["WARC-Payload-Digest"] == sha1(body)
    assert (response["WARC-Block-Digest"] == sha1(HEAD + body)) is block_digest
    assert request["WARC-Concurrent-To"] == response["WARC-Record-ID"]
    assert response["WARC-Truncated"] is None
    assert info["WARC-Filename"] == path.name
    assert payloads(path) == [body]
    # Each record is a gzip member of its own, where the writer said.
    data = path.read_bytes()
    for _, file, offset, length in places:
        assert file == path.name
        assert gzip.decompress(data[offset : offset + length]).startswith(b"WARC/1.1\r\n")
    assert places[-1][2] + places[-1][3] == len(data)


def test_chunked_response_is_stored_without_its_chunks(tmp_path: Path) -> None:
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 9\r\nA: b\r\n\r\n"
    body = b"5\r\nhello\r\n0\r\n\r\n"  # a body that itself looks chunked must not be unpacked
    writer = WarcWriter(tmp_path)
    writer.append_visit(URL, NOW, REQUEST, head, body)
    writer.close()
    path = only_file(tmp_path)
    check(path)
    assert payloads(path) == [body]
    _, response, _ = warcio_records(path)
    assert response.block == (
        b"HTTP/1.1 200 OK\r\nX-Crawl-Transfer-Encoding: chunked\r\n"
        b"X-Crawl-Content-Length: 9\r\nA: b\r\n\r\n" + body
    )


def test_content_coding_is_kept(tmp_path: Path) -> None:
    body = gzip.compress(b"hello " * 1000)
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"
    writer = WarcWriter(tmp_path)
    writer.append_visit(URL, NOW, REQUEST, head, body)
    writer.close()
    path = only_file(tmp_path)
    check(path)
    assert payloads(path) == [b"hello " * 1000]
    _, response, _ = warcio_records(path)
    assert response.block.endswith(b"\r\n\r\n" + body)
    assert response["WARC-Payload-Digest"] == sha1(body)


@pytest.mark.parametrize("reason", ["length", "time", "disconnect"])
def test_truncation_is_marked(tmp_path: Path, reason: str) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"
    writer = WarcWriter(tmp_path)
    writer.append_visit(URL, NOW, REQUEST, head, b"x" * 10, truncated=reason)
    writer.close()
    path = only_file(tmp_path)
    check(path)
    _, response, request = warcio_records(path)
    assert response["WARC-Truncated"] == reason
    assert request["WARC-Truncated"] is None
    assert response.block == head + b"x" * 10


def test_http2_is_spelled_so_that_tools_read_it(tmp_path: Path) -> None:
    head = b"HTTP/2 200\r\ncontent-type: text/html\r\n\r\n"
    writer = WarcWriter(tmp_path)
    writer.append_visit(URL, NOW, REQUEST, head, b"x", protocols=["h2", "tls/1.3"])
    writer.close()
    path = only_file(tmp_path)
    check(path)
    _, response, _ = warcio_records(path)
    assert response.block == b"HTTP/1.1 200\r\ncontent-type: text/html\r\n\r\nx"
    protocols = [v for k, v in response.fields.headers if k == "WARC-Protocol"]
    assert protocols == ["h2", "tls/1.3"]


@pytest.mark.parametrize("not_modified", [False, True])
def test_revisit(tmp_path: Path, not_modified: bool) -> None:
    digest = hashlib.sha1(b"page").digest()
    head = b"HTTP/1.1 304 Not Modified\r\nEtag: x\r\n\r\n" if not_modified else HEAD
    writer = WarcWriter(tmp_path)
    writer.append_visit(URL, NOW, REQUEST, HEAD, b"page")
    writer.append_revisit(
        URL + "2",
        NOW + 5_000_000,
        REQUEST,
        head,
        refers_to_uri=URL,
        refers_to_date=NOW,
        payload_digest=digest,
        not_modified=not_modified,
    )
    writer.close()
    path = only_file(tmp_path)
    check(path)
    _, response, _, revisit, request = warcio_records(path)
    assert (revisit.kind, request.kind) == ("revisit", "request")
    assert revisit.block == head
    profile = "server-not-modified" if not_modified else "identical-payload-digest"
    assert revisit["WARC-Profile"] == f"http://netpreserve.org/warc/1.1/revisit/{profile}"
    assert revisit["WARC-Refers-To-Target-URI"] == response["WARC-Target-URI"]
    assert revisit["WARC-Refers-To-Date"] == response["WARC-Date"]
    assert revisit["WARC-Payload-Digest"] == response["WARC-Payload-Digest"]


def test_metadata_holds_the_outlinks(tmp_path: Path) -> None:
    writer = WarcWriter(tmp_path)
    links = [("http://example.org/b", "a"), ("http://example.org/\r\nWARC-Type: x", "im\ng")]
    writer.append_visit(URL, NOW, REQUEST, HEAD, b"x", outlinks=links)
    writer.close()
    path = only_file(tmp_path)
    check(path)
    *_, metadata = warcio_records(path)
    assert metadata.block == (
        b"outlink: http://example.org/b a\r\n"
        b"outlink: http://example.org/%0D%0AWARC-Type:%20x im%0Ag\r\n"
    )


def test_no_value_can_add_a_field(tmp_path: Path) -> None:
    writer = WarcWriter(tmp_path)
    evil = "http://e.org/\r\nWARC-Type: warcinfo\r\n\r\n\0é"
    writer.append_visit(evil, NOW, REQUEST, HEAD, b"x", protocols=["h2\r\nEvil: 1"])
    writer.append_revisit(
        evil, NOW, REQUEST, HEAD, refers_to_uri=evil, refers_to_date=NOW, payload_digest=bytes(20)
    )
    writer.close()
    path = only_file(tmp_path)
    check(path)
    _, response, _, revisit, _ = warcio_records(path)
    clean = "http://e.org/%0D%0AWARC-Type:%20warcinfo%0D%0A%0D%0A%00%C3%A9"
    assert response["WARC-Target-URI"] == revisit["WARC-Refers-To-Target-URI"] == clean
    assert response["WARC-Protocol"] == "h2%0D%0AEvil: 1"
    assert response["Evil"] is None


HEAD_PIECES = st.sampled_from(
    [
        *(b"\r\n", b"\n", b"\r", b" ", b"\t", b"\x0b", b"\x1c", b"\0", b":", b"A"),
        *(b"\x85", b"\xa0", b"\xc2\xa0", b"\xe2\x80\xa8", b"\xff"),
        *(b"Transfer-Encoding: chunked", b"Transfer-Encoding : gzip, chunked"),
        *(b"Content-Length: 3", b"HTTP/2 200", b"X: y", b" folded"),
    ]
)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    url=st.text(max_size=40),
    lines=st.lists(st.one_of(HEAD_PIECES, st.binary(max_size=12)), max_size=12).map(b"".join),
    body=st.one_of(st.binary(max_size=300), HEAD_PIECES),
)
def test_any_head_and_body(
    tmp_path_factory: pytest.TempPathFactory, url: str, lines: bytes, body: bytes
) -> None:
    folder = tmp_path_factory.mktemp("warc")
    writer = WarcWriter(folder, fsync_ms=None)
    url = "http://e.org/" + url
    places = writer.append_visit(url, NOW, REQUEST, b"HTTP/1.1 200 OK\r\n" + lines, body)
    writer.close()
    path = only_file(folder)
    # warcio and our own reader find the same body, whatever the head looks like.
    with path.open("rb") as file:
        records = list_payloads(file)
    assert records == [body]
    assert read_page(path, places[0][2]).body == body
    ours = [(r.offset, r.length) for r in WarcReader(path)]
    assert ours[1:] == [(offset, length) for _, _, offset, length in places]


def list_payloads(file: io.BufferedReader) -> list[bytes]:
    found = []
    for record in ArchiveIterator(file, check_digests="raise"):
        raw = record.raw_stream.read()
        if record.rec_type == "response":
            found.append(raw)
    return found


@settings(max_examples=40, deadline=None)
@given(st.integers(min_value=0, max_value=4_102_444_800_000_000))
def test_dates_agree_with_datetime(date: int) -> None:
    expected = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=date)
    assert native_date(date) == expected.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def native_date(date: int) -> str | None:
    with tempfile.TemporaryDirectory() as folder:
        writer = WarcWriter(folder, fsync_ms=None)
        writer.append_visit(URL, date, REQUEST, HEAD, b"")
        writer.close()
        return [r.date for r in WarcReader(only_file(Path(folder)))][1]


def test_reader_gives_the_facts(tmp_path: Path) -> None:
    writer = WarcWriter(tmp_path)
    writer.append_visit(URL, NOW, REQUEST, HEAD, b"page", ip="::1", truncated="time")
    writer.append_revisit(
        URL, NOW, REQUEST, HEAD, refers_to_uri=URL, refers_to_date=NOW, payload_digest=bytes(20)
    )
    writer.close()
    path = only_file(tmp_path)
    info, response, request, revisit, _ = WarcReader(path, body_limit=100_000)
    assert (info.kind, info.offset, info.status, info.head) == ("warcinfo", 0, None, b"")
    assert info.body is not None
    assert b"software: Gossamer/" in info.body
    assert (response.uri, response.status, response.mime) == (URL, 200, "text/html")
    assert (response.head, response.body, response.body_length) == (HEAD, b"page", 4)
    assert (response.ip, response.truncated) == ("::1", "time")
    assert response.payload_digest == sha1(b"page")
    assert request.concurrent_to == response.record_id
    assert request.head == REQUEST
    assert (revisit.refers_to_uri, revisit.refers_to_date) == (URL, response.date)
    assert revisit.profile is not None
    # Without a limit no body is held.
    assert [r.body for r in WarcReader(path)] == [None] * 5


def test_cdxj_points_at_the_records(tmp_path: Path) -> None:
    files = []
    urls = [f"http://www.example.org/{i % 7}?b={i}&a=1" for i in range(300)]
    for part in range(3):
        writer = WarcWriter(tmp_path / str(part))
        for i, url in enumerate(urls):
            if i % 3 == part:
                writer.append_visit(url, NOW + i * 1_000_000, REQUEST, HEAD, f"body {i}".encode())
        writer.append_revisit(
            "http://z.org/", NOW, REQUEST, HEAD, refers_to_uri=URL, refers_to_date=NOW
        )
        writer.close()
        files.append(only_file(tmp_path / str(part)))
    out = tmp_path / "index.cdxj"
    assert write_cdxj(files, out) == 303
    assert not list(tmp_path.glob("*.part"))
    lines = out.read_bytes().splitlines()
    assert lines == sorted(lines)
    seen = set()
    for line in lines:
        key, stamp, text = line.decode().split(" ", 2)
        row = json.loads(text)
        assert key == surt(row["url"])
        if row["mime"] == "warc/revisit":
            continue
        (path,) = (
            f for f in files if f.name == row["filename"] and has(f, int(row["offset"]), row["url"])
        )
        record = read_page(path, int(row["offset"]))
        assert record.length == int(row["length"])
        assert record.date.replace("-", "").replace(":", "").replace("T", "")[:14] == stamp
        assert (record.payload_digest, str(record.status)) == (row["digest"], row["status"])
        seen.add(record.body)
    assert len(seen) == 300


def has(path: Path, offset: int, url: str) -> bool:
    """The three files have one name: tell them apart by what is at the offset."""
    with path.open("rb") as file:
        file.seek(offset)
        try:
            record = next(iter(ArchiveIterator(file)))
        except Exception:  # noqa: BLE001 - not a record at all is an answer
            return False
        return bool(record.rec_headers.get_header("WARC-Target-URI") == url)
