"""The door `refresh`: pages are visited again, and asked for only if they have changed."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from tests.native.doors import Crawl, page, site

from gossamer._native import Batch

COLUMNS = [
    "url", "outcome", "fetched_at", "first_visit", "visits", "changes", "unchanged", "last_change",
    "etag", "native_next",
]  # fmt: skip


@pytest.mark.parametrize("etags", [True, False])
def test_pages_are_visited_again(tmp_path: Path, etags: bool) -> None:
    rows: list[dict[str, Any]] = []

    def again(batch: Batch) -> dict[str, list[Any]]:
        columns = {name: batch.column(name) for name in batch.columns}
        rows.extend({name: columns[name][row] for name in columns} for row in range(len(batch)))
        # Between the second visit and the third, which waits for this answer.
        if any(row["url"].endswith("/a") and row["visits"] == 2 for row in rows):
            web.pages["/a"] = page(text="new")
        soon = int(time.time() * 1e6) + 100_000
        due = [soon if visits < 3 else 0 for visits in columns["visits"]]
        return {"next_visit": due, "reason": [f"visit {visits}" for visits in columns["visits"]]}

    with site({"/": page("/a"), "/a": page(text="old")}, etags=etags) as web:
        crawl = Crawl(tmp_path, {"refresh": {"columns": COLUMNS}}, {"refresh": again})
        crawl.run(web.url + "/")
        last = crawl.why(web.url + "/a")
        assert last["last_visit"]["visits"] == 3
        assert last["last_visit"]["changes"] == 1
        assert last["policies"]["refresh"] == "visit 3"
        assert crawl.progress["outcomes"]["not_modified"] == 3
        crawl.close()
    assert web.visits("/a") == 3
    assert web.visits("/") == 3
    assert web.not_modified == (3 if etags else 0)
    first, *_, third = [row for row in rows if row["url"].endswith("/a")]
    assert (first["visits"], first["changes"], first["native_next"]) == (1, 0, 0)
    assert first["first_visit"] == first["fetched_at"] == first["last_change"]
    assert (third["visits"], third["changes"], third["unchanged"]) == (3, 1, 1)
    assert third["outcome"] == "fetched"
    assert third["last_change"] == third["fetched_at"]
    assert (third["etag"] is not None) == etags
    profile = "server-not-modified" if etags else "identical-payload-digest"
    revisits = crawl.records("revisit")
    assert len(revisits) == 3
    for url, headers, _ in revisits:
        assert headers.get_header("WARC-Profile").endswith(profile)
        assert headers.get_header("WARC-Refers-To-Target-URI") == url
    # Two versions of the one, one of the other.
    assert sorted(url for url, _, _ in crawl.records("response") if "robots" not in url) == [
        web.url + "/", web.url + "/a", web.url + "/a",
    ]  # fmt: skip


def test_what_waits_is_there_after_a_restart(tmp_path: Path) -> None:
    def later(batch: Batch) -> dict[str, list[Any]]:
        wait = 1_000_000 if batch.column("visits")[0] == 1 else 0
        return {"next_visit": [int(time.time() * 1e6) + wait if wait else 0] * len(batch)}

    doors = {"refresh": {"columns": ["visits"]}}
    with site({"/": page()}) as web:
        crawl = Crawl(tmp_path, doors, {"refresh": later})
        # It does not end while something waits to be visited again.
        progress = crawl.run(web.url + "/", until=lambda: crawl.progress["pages"] == 1)
        assert progress["activity"] == "running"
        assert progress["urls_queued"] == 1
        crawl.close()
        crawl = Crawl(tmp_path, doors, {"refresh": later})
        crawl.run()
        assert crawl.why(web.url + "/")["last_visit"]["visits"] == 2
        crawl.close()
        assert web.visits("/") == 2
        assert web.not_modified == 1


def test_a_page_stays_findable_when_a_further_visit_is_refused_or_dropped(tmp_path: Path) -> None:
    """Neither a quota that is used up nor a policy's `keep` on an unchanged page hides what is stored."""

    def soon(batch: Batch) -> dict[str, list[Any]]:
        return {"next_visit": [int(time.time() * 1e6) + 50_000] * len(batch)}

    def only_first(batch: Batch) -> dict[str, list[Any]]:
        return {"keep": [outcome == "fetched" for outcome in batch.column("outcome")]}

    doors = {"refresh": {"columns": ["url"]}, "pages": {"columns": ["outcome"]}}
    with site({"/": page("/a"), "/a": page(text="x")}, etags=True) as web:
        policies = {"refresh": soon, "pages": only_first}
        crawl = Crawl(tmp_path, doors, policies, limits={"pages_per_host": 3})
        crawl.run(web.url + "/")
        # One of the two was visited again; the other waited for that when the quota was used up.
        assert crawl.progress["outcomes"]["not_modified"] == 1
        assert crawl.progress["outcomes"]["over_quota"] == 1
        for path, outcome in (("/", "not_modified"), ("/a", "fetched")):
            last = crawl.why(web.url + path)["last_visit"]
            assert (last["outcome"], last["warc_file"] is None) == (outcome, False)
        crawl.close()
