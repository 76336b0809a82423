"""Exports compared with the truth about the simulated web, and with independent readers."""

import builtins
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from tests.audit.crawls import Crawl, gossamer
from warcio.archiveiterator import ArchiveIterator

from gossamer._native import WarcWriter
from gossamer.errors import UsageError
from gossamer.export import write_parquet
from gossamer.library import log_files


def exported_rows(crawl: Crawl, format: str, tmp_path: Path) -> list[dict[str, Any]]:  # noqa: A002
    target = tmp_path / f"export.{format}"
    done = gossamer("export", crawl.out, "--format", format, "--output", target)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in target.read_text().splitlines()]


def record_at(crawl: Crawl, file: str, offset: int) -> tuple[Any, bytes]:
    with (crawl.out / "warc" / file).open("rb") as warc:
        warc.seek(offset)
        record = next(iter(ArchiveIterator(warc)))
        return record, record.raw_stream.read()


def test_pages_come_with_their_html_if_wanted(exported: Crawl, tmp_path: Path) -> None:
    plain = exported_rows(exported, "jsonl", tmp_path)
    assert "html" not in plain[0]
    target = tmp_path / "html.jsonl"
    done = gossamer("export", exported.out, "--html", "--output", target)
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in target.read_text().splitlines()]
    assert [row["url"] for row in rows] == [row["url"] for row in plain]
    for row in rows:
        assert (row["html"] is None) == (row["title"] is None), row["url"]
        if row["title"] is not None and row["charset"] == "UTF-8":
            assert "<html" in row["html"].lower()
    table = tmp_path / "html.parquet"
    done = gossamer("export", exported.out, "--format", "parquet", "--html", "--output", table)
    assert done.returncode == 0, done.stderr
    assert pq.read_table(table).column("html").to_pylist() == [row["html"] for row in rows]
    wrong = gossamer("export", exported.out, "--format", "cdxj", "--html")
    assert wrong.returncode == 2
    assert "give --html with" in wrong.stderr


def test_pages_are_those_of_the_truth(exported: Crawl, tmp_path: Path) -> None:
    rows = {row["url"]: row for row in exported_rows(exported, "jsonl", tmp_path)}
    known = {
        row.url: row
        for row in exported.rows
        if row.allowed and row.depth is not None and row.fetchable and row.redirect is None
    }
    # Pages without links to them are found by sitemaps only; they are pages all the same.
    assert set(known) <= set(rows)
    parsed = titled = 0
    for url, truth in known.items():
        row = rows[url]
        assert row["status"] == 200
        if row["title"] is None:
            assert row["outcome"] == "duplicate"
            assert row["duplicate_of"]
            continue
        parsed += 1
        assert row["outlinks"] == len(truth.links), url
        # Some pages declare a charset that is not theirs: their titles cannot be had.
        if (truth.charset_header or truth.charset_meta) == truth.charset:
            titled += 1
            assert truth.title
            assert row["title"].startswith(truth.title), url
    assert parsed > 100
    assert titled > 50


def test_places_are_right(exported: Crawl, tmp_path: Path) -> None:
    rows = exported_rows(exported, "jsonl", tmp_path)
    assert rows
    for row in rows:
        record, body = record_at(exported, row["warc_file"], row["warc_offset"])
        assert record.rec_headers.get_header("WARC-Target-URI") == row["url"]
        assert record.rec_headers.get_header("WARC-Payload-Digest") == row["digest"]
        if record.rec_type == "response":
            assert body
        else:
            assert record.rec_headers.get_header("WARC-Refers-To-Target-URI") == row["duplicate_of"]


def test_links_equal_the_truth(exported: Crawl, tmp_path: Path) -> None:
    found: dict[str, dict[str, None]] = {}
    for row in exported_rows(exported, "links", tmp_path):
        assert set(row) == {"from", "to", "kind", "rel", "anchor"}
        found.setdefault(row["from"], {})[row["to"]] = None
    known = {row.url: row.links for row in exported.rows}
    assert len(found) > 100
    for url, links in found.items():
        assert list(links) == known[url], url


def test_cdxj_is_read_back(exported: Crawl, tmp_path: Path) -> None:
    target = tmp_path / "index.cdxj"
    assert gossamer("export", exported.out, "--format", "cdxj", "--output", target).returncode == 0
    lines = target.read_text().splitlines()
    assert lines == sorted(lines)
    for line in lines:
        _, _, text = line.split(" ", 2)
        row = json.loads(text)
        record, _ = record_at(exported, row["filename"], int(row["offset"]))
        assert record.rec_headers.get_header("WARC-Target-URI") == row["url"]
    printed = gossamer("export", exported.out, "--format", "cdxj").stdout
    assert printed.splitlines() == lines


def test_parquet_is_the_same(exported: Crawl, tmp_path: Path) -> None:
    target = tmp_path / "pages.parquet"
    done = gossamer("export", exported.out, "--format", "parquet", "--output", target)
    assert done.returncode == 0, done.stderr
    assert pq.read_table(target).to_pylist() == exported_rows(exported, "jsonl", tmp_path)


def test_standard_output_is_the_default(exported: Crawl, tmp_path: Path) -> None:
    printed = gossamer("export", exported.out).stdout
    assert [json.loads(line) for line in printed.splitlines()] == exported_rows(
        exported, "jsonl", tmp_path
    )


def test_wrong_use(exported: Crawl, tmp_path: Path) -> None:
    for arguments, words in [
        ((tmp_path / "nothing",), "holds no crawl"),
        ((exported.out, "--format", "parquet"), "give --output FILE"),
        ((exported.out, "--format", "xml"), "xml"),
    ]:
        done = gossamer("export", *arguments)
        assert done.returncode == 2
        assert words in done.stderr
    done = gossamer("export", exported.out, "--output", tmp_path / "no" / "where")
    assert done.returncode == 1
    assert "cannot write" in done.stderr


def test_without_pyarrow_the_extra_is_named(tmp_path: Path, monkeypatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(UsageError, match=r"gossamer\[parquet\]"):
        write_parquet([], tmp_path / "pages.parquet")


def test_damage_is_an_error_that_names_the_audit(copied: Crawl) -> None:
    text = copied.warc().read_bytes()
    copied.warc().write_bytes(text[: len(text) // 2])
    done = gossamer("export", copied.out, "--output", copied.out / "pages")
    assert done.returncode == 1
    assert "gossamer audit" in done.stderr
    assert not (copied.out / "pages").exists()
    assert not (copied.out / "pages.new").exists()


def test_hostile_text_stays_in_its_field(copied: Crawl) -> None:
    """A title with ends of lines, quotes and terminal controls is one line and one value."""
    title = 'a"\u2028b\u0085c\x1b[31m\x7f\\","url":"http://evil/"'
    body = f"<title>{title}</title>".encode()
    for file in (copied.out / "warc").iterdir():
        file.unlink()
    (line, *_) = [
        line for line in copied.lines() if line["outcome"] == "fetched" and "purpose" not in line
    ]
    writer = WarcWriter(copied.out / "warc")
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"
    url = "http://a.test/page"
    date = 1_700_000_000_000_000
    writer.append_visit(url, date, b"GET / HTTP/1.1\r\n\r\n", head, body)
    writer.close()
    (log,) = log_files(copied.out)
    line |= {"url": url, "host": "a.test", "time": "2023-11-14T22:13:20.000000Z"}
    log.write_text(json.dumps(line) + "\n")
    printed = gossamer("export", copied.out).stdout
    assert len(printed.splitlines()) == 1
    assert "\x1b" not in printed
    row = json.loads(printed)
    assert row["url"] == url
    assert "b" in row["title"]
