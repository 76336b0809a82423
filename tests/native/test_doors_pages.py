"""The door `pages`: what a policy is told of a visit, and what it can decide."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
from tests.native.doors import Crawl, page, site

from gossamer._native import Batch

ALL = [
    "url", "host", "depth", "from", "outcome", "status", "content_type", "fetched_at", "ms", "bytes",
    "title", "language", "charset", "text_bytes", "simhash", "noindex", "nofollow", "canonical",
    "headers", "links", "text", "body", "noarchive",
]  # fmt: skip


def test_every_column_tells_of_the_visit(tmp_path: Path) -> None:
    rows: dict[str, dict[str, Any]] = {}

    def remember(batch: Batch) -> dict[str, list[Any]]:
        assert batch.door == "pages"
        assert set(batch.columns) == set(ALL)
        columns = {name: batch.column(name) for name in batch.columns}
        # The same memory, read by somebody who knows nothing of us.
        table = pa.record_batch(batch)
        assert table.num_rows == len(batch)
        assert table.to_pydict() == columns
        for row in range(len(batch)):
            rows[columns["url"][row]] = {name: columns[name][row] for name in columns}
        return {}

    start = page("/a", "/gone").replace(
        "<title>", "<meta name=robots content=noarchive><link rel=canonical href=/c><title>"
    )
    with site({"/": start, "/a": page()}) as web:
        crawl = Crawl(tmp_path, {"pages": {"columns": ALL}}, {"pages": remember})
        crawl.run(web.url + "/")
        crawl.close()
    first = rows[web.url + "/"]
    assert first["depth"] == 0
    assert first["from"] is None
    assert first["status"] == 200
    assert first["outcome"] == "fetched"
    assert first["host"] in web.url
    assert first["title"] == "A title"
    assert first["language"] == "en"
    assert (
        first["text"] == "A title Some text to /a to /gone"
        or "Some text to /a to /gone" in first["text"]
    )
    assert first["body"] == start.encode()
    assert first["bytes"] == len(start)
    assert first["canonical"] == web.url + "/c"
    assert first["noindex"] is False
    assert first["noarchive"] is True
    assert {"url": web.url + "/a", "kind": "a", "anchor": "to /a"} in first["links"]
    assert any(pair["name"].lower() == "etag" for pair in first["headers"])
    assert rows[web.url + "/a"]["from"] == web.url + "/"
    assert rows[web.url + "/a"]["depth"] == 1
    assert rows[web.url + "/gone"]["outcome"] == "gone"


def test_a_page_is_dropped_and_its_links_followed(tmp_path: Path) -> None:
    def drop(batch: Batch) -> dict[str, list[Any]]:
        paths = [url.endswith("/a") for url in batch.column("url")]
        return {
            "keep": [not is_a for is_a in paths],
            "reason": ["not wanted" if is_a else None for is_a in paths],
        }

    with site({"/": page("/a"), "/a": page("/b"), "/b": page()}) as web:
        crawl = Crawl(tmp_path, {"pages": {"columns": ["url"]}}, {"pages": drop})
        progress = crawl.run(web.url + "/")
        assert progress["outcomes"]["dropped"] == 1
        assert (progress["pages"], progress["pages_dropped"]) == (2, 1)
        last = crawl.why(web.url + "/a")["last_visit"]
        assert last["outcome"] == "dropped"
        assert last["reason"] == "not wanted"
        assert last["warc_file"] is None
        crawl.close()
    assert crawl.outcomes()["/a"] == "dropped"
    assert crawl.outcomes()["/b"] == "fetched"
    assert [line["reason"] for line in crawl.log() if line["outcome"] == "dropped"] == [
        "not wanted"
    ]
    assert web.url + "/a" not in [url for url, _, _ in crawl.records("response")]
    assert web.url + "/a" not in [url for url, _, _ in crawl.records("request")]


def test_fields_links_and_a_score(tmp_path: Path) -> None:
    seen: dict[str, float | None] = {}

    def process(batch: Batch) -> dict[str, list[Any]]:
        rows = len(batch)
        fields = json.dumps({"words": ["é", 1]}, ensure_ascii=False)
        return {
            "fields": [fields] * rows,
            "links": [["/extra", "http://elsewhere.example/", "::::"]] * rows,
            "score": [0.25] * rows,
        }

    def order(batch: Batch) -> dict[str, list[Any]]:
        kinds, urls = batch.column("kind"), batch.column("url")
        seen.update(zip(urls, batch.column("parent_score"), strict=True))
        assert all(
            kind == "policy" for kind, url in zip(kinds, urls, strict=True) if "extra" in url
        )
        return {"score": [0.5] * len(batch)}

    doors = {"pages": {"columns": ["url"]}, "order": {"columns": ["url", "kind", "parent_score"]}}
    with site({"/": page("/a"), "/a": page(), "/extra": page(text="more")}) as web:
        crawl = Crawl(tmp_path, doors, {"pages": process, "order": order})
        crawl.run(web.url + "/")
        crawl.close()
    assert crawl.outcomes()["/extra"] == "fetched"
    assert seen[web.url + "/a"] == 0.25
    assert seen[web.url + "/extra"] == 0.25
    fields = {url: json.loads(block) for url, _, block in crawl.records("metadata")}
    assert fields[web.url + "/a"] == {"words": ["é", 1]}
    pages = {url: headers for url, headers, _ in crawl.records("response")}
    for url, headers, _ in crawl.records("metadata"):
        assert headers.get_header("Content-Type") == "application/json"
        record = pages[url].get_header("WARC-Record-ID")
        assert headers.get_header("WARC-Concurrent-To") == record


def test_only_what_is_asked_for_is_made(tmp_path: Path) -> None:
    asked: list[list[str]] = []

    def look(batch: Batch) -> dict[str, list[Any]]:
        asked.append(batch.columns)
        try:
            batch.column("body")
        except KeyError:
            return {}
        raise AssertionError

    with site({"/": page()}) as web:
        crawl = Crawl(tmp_path, {"pages": {"columns": ["status", "url"]}}, {"pages": look})
        crawl.run(web.url + "/")
        crawl.close()
    assert asked == [["url", "status"]]


def test_pages_that_are_dropped_count_for_the_limits(tmp_path: Path) -> None:
    """Else a policy that keeps nothing would visit an endless site without end."""

    def none(batch: Batch) -> dict[str, list[Any]]:
        return {"keep": [False] * len(batch)}

    links = [f"/{n}" for n in range(40)]
    pages = {"/": page(*links)} | {link: page(text=link) for link in links}
    for name, limits in (("all", {"pages": 5}), ("host", {"pages_per_host": 5})):
        with site(pages) as web:
            crawl = Crawl(
                tmp_path / name, {"pages": {"columns": ["url"]}}, {"pages": none}, limits=limits
            )
            ended = {"finished", "limit_reached"}
            crawl.run(f"{web.url}/", until=lambda: crawl.progress["activity"] in ended)  # noqa: B023
            crawl.close()
        assert sum(path != "/robots.txt" for path in web.requests) == 5
        assert list(crawl.outcomes().values()).count("dropped") == 5
