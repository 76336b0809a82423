"""The door `refresh`: pages are visited again, and asked for only if they have changed."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from tests.native.doors import Crawl, page, settings, site

from gossamer._native import Batch
from gossamer._native import why as native_why

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
    """Neither a host that is given up nor a policy's `keep` on an unchanged page hides what is stored."""

    def soon(batch: Batch) -> dict[str, list[Any]]:
        return {"next_visit": [int(time.time() * 1e6) + 50_000] * len(batch)}

    def only_first(batch: Batch) -> dict[str, list[Any]]:
        return {"keep": [outcome == "fetched" for outcome in batch.column("outcome")]}

    def enough(batch: Batch) -> dict[str, list[Any]]:
        return {"give_up": [True if web.not_modified >= 4 else None] * len(batch)}

    doors = {
        "refresh": {"columns": ["url"]},
        "pages": {"columns": ["outcome"]},
        "hosts": {"columns": ["host"], "wait": 10_000},
    }
    with site({"/": page("/a"), "/a": page(text="x")}, etags=True) as web:
        policies = {"refresh": soon, "pages": only_first, "hosts": enough}
        crawl = Crawl(tmp_path, doors, policies)
        crawl.run(web.url + "/")
        # That what waited is not visited again is told; one page may have been under way just then.
        assert crawl.progress["outcomes"]["not_modified"] >= 4
        assert crawl.progress["outcomes"]["dropped"] in (1, 2)
        for path in ("/", "/a"):
            last = crawl.why(web.url + path)["last_visit"]
            assert (last["outcome"], last["warc_file"] is None) == ("not_modified", False)
        crawl.close()


def test_visits_to_known_pages_use_up_no_quota(tmp_path: Path) -> None:
    """A quota is for pages: all of them come in, however often some are visited again."""

    def soon(batch: Batch) -> dict[str, list[Any]]:
        times = batch.column("visits")
        return {"next_visit": [int(time.time() * 1e6) + 1_000 if n < 4 else 0 for n in times]}

    links = [f"/{n}" for n in range(9)]
    pages = {"/": page(*links)} | {link: page(text=link) for link in links}
    with site(pages) as web:
        doors = {"refresh": {"columns": ["visits"]}}
        crawl = Crawl(tmp_path, doors, {"refresh": soon}, limits={"pages_per_host": 10})
        crawl.run(web.url + "/")
        crawl.close()
    assert {path: web.visits(path) for path in pages} == dict.fromkeys(pages, 4)
    assert set(crawl.outcomes().values()) == {"not_modified", "gone"}


def test_a_page_that_was_not_judged_when_the_crawl_stopped_is_judged_later(tmp_path: Path) -> None:
    asked = threading.Event()
    let_go = threading.Event()

    def slow(batch: Batch) -> dict[str, list[Any]]:
        asked.set()
        let_go.wait(60)
        return {"next_visit": [0] * len(batch)}

    doors = {"refresh": {"columns": ["url"]}}
    with site({"/": page()}) as web:
        crawl = Crawl(tmp_path, doors, {"refresh": slow})
        crawl.run(web.url + "/", until=asked.is_set)
        crawl.close()
        let_go.set()
        # Asked without a process, and by the next one: it waits to be visited, and to be judged then.
        left = json.loads(native_why(tmp_path, settings(doors), web.url + "/"))
        assert left["policies"] == {"refresh": "not judged: the crawl stopped first"}
        assert left["queued"] is not None
        crawl = Crawl(tmp_path, doors, {"refresh": slow})
        crawl.run()
        assert crawl.why(web.url + "/")["last_visit"]["visits"] == 2
        crawl.close()
    assert web.visits("/") == 2


def test_the_reason_stays_with_the_page_whatever_becomes_of_its_links(tmp_path: Path) -> None:
    """Links that are refused have rows of their own in the same batch."""

    def never(batch: Batch) -> dict[str, list[Any]]:
        return {"next_visit": [0] * len(batch), "reason": ["seen enough"] * len(batch)}

    with site({"/": page("/1", "/2"), "/1": page("/3"), "/2": page("/4")}) as web:
        doors = {"refresh": {"columns": ["url"]}}
        crawl = Crawl(tmp_path, doors, {"refresh": never}, limits={"depth": 1})
        crawl.run(f"{web.url}/")
        assert crawl.progress["outcomes"]["over_quota"] == 2
        for path in ("/", "/1", "/2"):
            assert crawl.why(web.url + path)["policies"] == {"refresh": "seen enough"}
        crawl.close()
