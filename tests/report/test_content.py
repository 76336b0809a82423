"""Types and languages of pages: whatever sites call them, what is counted is bounded, and no page is left out."""

import gzip
from pathlib import Path
from uuid import uuid4

from gossamer.report import Known, Visits, build
from gossamer.report.content import KINDS, OTHERS, read_content
from gossamer.settings import CrawlSettings


def written(out: Path, types: list[str], body: str = "x") -> None:
    """A WARC file with a response of each type."""
    (out / "warc").mkdir(parents=True)
    with (out / "warc" / "gossamer-20260101000000-00000-x.warc.gz").open("wb") as file:
        for number, kind in enumerate(types):
            block = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n\r\n{body}"
            head = (
                f"WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.test/{number}\r\n"
                f"WARC-Date: 2026-01-01T00:00:00Z\r\nWARC-Record-ID: <urn:uuid:{uuid4()}>\r\n"
                f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(block)}\r\n\r\n"
            )
            file.write(gzip.compress(f"{head}{block}\r\n\r\n".encode()))


def notes(out: Path) -> list[str]:
    content = read_content(out)
    known = Known(out, cluster=False, running=False, settings=CrawlSettings(), progress=None, resume="")  # fmt: skip
    return build(known, Visits(), content).notes


def test_more_types_than_are_told_apart_are_counted_together(tmp_path: Path) -> None:
    more = 7
    names = [f"text/t{number}" for number in range(KINDS + more)]
    written(tmp_path, ["text/plain", *names[: KINDS - 1], *names[KINDS - 1 :], "text/plain"])
    content = read_content(tmp_path)
    assert content.records == sum(content.types.values()) == KINDS + more + 2
    assert len(content.types) == KINDS + 1
    # One that is known is counted as itself, also later.
    assert (content.types["text/plain"], content.types[OTHERS]) == (2, more + 1)
    assert any("types" in note and OTHERS in note for note in notes(tmp_path))


def test_of_few_types_nothing_is_said(tmp_path: Path) -> None:
    written(tmp_path, ["text/html", "text/html; charset=utf-8"], '<html lang="en-GB"><p>x')
    content = read_content(tmp_path)
    assert (content.types, content.languages) == ({"text/html": 2}, {"en": 2})
    assert not any(OTHERS in note for note in notes(tmp_path))
