"""Thousands of pages of the simulated web with every misbehaviour on: results equal the truth."""

from __future__ import annotations

import asyncio
import gzip
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import brotli
import pytest
import zstandard
from tests.native.pool_seam import check_warc, settings
from warcio.archiveiterator import ArchiveIterator

from gossamer._native import Visited
from gossamer.node.visits import Visits
from gossamer.simweb import ALL_BEHAVIOURS, Options, SimWeb, serve, truth
from gossamer.simweb.truth import Row

OPTIONS = Options(
    seed=11,
    hosts=60,
    pages=4_000,
    port=0,
    # A page must not change between the visit and the truth.
    **ALL_BEHAVIOURS | {"change_rate": 0.0, "traps": 0.3},
)
PAGE = {"ok", "duplicate", "near_duplicate", "trap"}
FIRST = {
    "error": "server_failed",
    "error_once": "server_failed",
    "throttled_once": "throttled",
    "dead": "gone",
    "redirect": "redirected",
} | dict.fromkeys(PAGE, "fetched")


async def rounds_of(rows: list[Row], folder: Path) -> tuple[dict[str, Visited], dict[str, Visited]]:
    """Both answers of every URL, with all records in one folder."""
    got = []
    async with Visits(settings(), folder) as visits:
        for _ in range(2):
            urls = [row.url for row in rows]
            results = [v async for batch in visits.visit(urls, keep_body=True) for v in batch]
            assert Counter(v.url for v in results) == Counter(urls)
            got.append({v.url: v for v in results})
    return got[0], got[1]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("warc")


@pytest.fixture(scope="module")
def web() -> Iterator[SimWeb]:
    with serve(OPTIONS) as running:
        yield running


@pytest.fixture(scope="module")
def rows(web: SimWeb) -> list[Row]:
    return list(truth(web.options).rows())


@pytest.fixture(scope="module")
def answers(rows: list[Row], folder: Path) -> tuple[dict[str, Visited], dict[str, Visited]]:
    return asyncio.run(rounds_of(rows, folder))


def expected_links(row: Row) -> list[str]:
    """What leaves the page: nothing where it says nofollow, and never itself."""
    if row.kind == "redirect":
        return [row.redirect] if row.redirect and row.redirect != row.url else []
    if row.nofollow:
        return []
    return [link for link in row.links if link != row.url]


def test_first_answers(
    rows: list[Row], answers: tuple[dict[str, Visited], dict[str, Visited]]
) -> None:
    assert len(rows) > 4_000
    assert {row.kind for row in rows} == FIRST.keys() | {"reset", "reset_once"}
    for row in rows:
        visited = answers[0][row.url]
        if row.kind.startswith("reset"):
            # A kept connection that is reset before its answer is no answer: asked again at once.
            again = {"fetched"} if row.kind == "reset_once" else set()
            assert visited.outcome in {"disconnected", "truncated"} | again, row
            assert (visited.outcome == "disconnected") or visited.status == 200
            continue
        assert visited.outcome == FIRST[row.kind], (row, visited.detail)
        if row.kind == "redirect":
            assert visited.status in {301, 302, 303, 307, 308}
        else:
            assert visited.status == row.status, row


def test_second_answers(
    rows: list[Row], answers: tuple[dict[str, Visited], dict[str, Visited]]
) -> None:
    for row in rows:
        visited = answers[1][row.url]
        if row.fetchable:
            assert (visited.outcome, visited.status) == ("fetched", 200), (row, visited.detail)
        elif row.kind != "reset":
            assert visited.outcome == FIRST[row.kind], (row, visited.detail)


def test_links_are_those_of_the_truth(
    rows: list[Row], answers: tuple[dict[str, Visited], dict[str, Visited]]
) -> None:
    compared = 0
    for row in rows:
        visited = answers[1][row.url]
        if (row.fetchable and row.trap is None) or row.kind == "redirect":
            assert visited.links == expected_links(row), row.url
            compared += 1
        assert not any("/decoy/" in link for link in visited.links)
    assert compared > 3_500


def test_titles_are_those_of_the_truth(
    rows: list[Row], answers: tuple[dict[str, Visited], dict[str, Visited]]
) -> None:
    wrong = []
    for row in rows:
        # Where the declaration is wrong nobody can know the charset.
        declared = row.charset_header or row.charset_meta
        if row.fetchable and row.title and declared == row.charset:
            title = answers[1][row.url].title or ""
            if not title.startswith(row.title):
                wrong.append((row.url, row.charset, row.title, title))
    assert not wrong


def decoded(coding: str | None, content: bytes) -> bytes:
    match coding:
        case "gzip":
            return gzip.decompress(content)
        case "br":
            return bytes(brotli.decompress(content))
        case "zstd":
            return zstandard.ZstdDecompressor().decompressobj().decompress(content)
        case _:
            return content


def test_warc_files_hold_the_same_bytes(
    folder: Path, rows: list[Row], answers: tuple[dict[str, Visited], dict[str, Visited]]
) -> None:
    files = check_warc(folder)
    bodies: dict[tuple[str, int], tuple[str | None, bytes]] = {}
    kinds: Counter[str] = Counter()
    for path in files:
        with path.open("rb") as file:
            records = ArchiveIterator(file, check_digests="raise")
            for record in records:
                kinds[record.rec_type] += 1
                if record.rec_type == "response":
                    coding = record.http_headers.get_header("content-encoding")
                    # warcio knows neither zstd nor the present brotli: decoded here.
                    record.http_headers.remove_header("content-encoding")
                    content = record.content_stream().read()
                    place = (path.name, records.get_record_offset())
                    bodies[place] = (coding, content)
                else:
                    record.content_stream().read()
    codings: Counter[str | None] = Counter()
    for results in answers:
        for visited in results.values():
            assert (len(visited.records) == 2) == (visited.status != 0)
            if visited.status == 0:
                continue
            name, offset, _ = visited.records[0]
            stored = bodies.pop((name, offset))
            if visited.outcome != "truncated":
                assert decoded(*stored) == visited.body, visited.url
                codings[stored[0]] += 1
    assert codings.total() > 8_000
    assert codings.keys() == {None, "gzip", "br", "zstd"}
    assert not bodies
    assert kinds["request"] == kinds["response"]
    assert kinds["warcinfo"] == len(files)
