"""One count everywhere: summary, `--json`, report, status, `open`, audit and export of one crawl say the same numbers."""

import json
import os
import shutil
import subprocess
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
from tests.audit.crawls import gossamer
from tests.cluster.clustering import GOSSAMER, LONG_LEASE, USUAL
from tests.control.opened import opened
from tests.crawl.pages import Answer, Pages, moved, serving
from tests.report.test_html import Parsed

from gossamer.words import count

BUSY = Answer(status=503)
SITE: dict[str, str | Answer] = {
    "//site.test/robots.txt": Answer(
        "User-agent: *\nDisallow: /private\nSitemap: http://site.test:PORT/map.xml\n", kind="text/plain"
    ),
    "//site.test/map.xml": Answer(
        "<urlset><url><loc>http://site.test:PORT/mapped</loc></url></urlset>", kind="application/xml"
    ),
    # Robots files and sitemaps are visited as such; who links to one has it visited as a page too.
    "//site.test/": '<a href="/one">1</a> <a href="/two">2</a> <a href="/gone">3</a> <a href="/private">4</a>'
    '<a href="/robots.txt">5</a> <a href="http://moved.test:PORT/">6</a>',
    "//site.test/one": "the same words",
    "//site.test/two": "the same words",
    "//site.test/mapped": "only the sitemap names it",
    "//moved.test/robots.txt": moved("/rules.txt"),
    "//moved.test/rules.txt": Answer("User-agent: *\n", kind="text/plain"),
    "//moved.test/": "its robots file has moved",
    "//busy.test/robots.txt": BUSY,
}  # fmt: skip
HOSTS = ("site.test", "moved.test", "busy.test")
APART = ("robots_files", "sitemaps", "probes", "unvisited")
SAME = ("pages", "visits", "bytes", "outcomes", *APART)


@dataclass
class Done:
    """A crawl that has ended, and what it said of itself."""

    out: Path
    said: dict[str, Any]
    words: str
    port: int

    @cached_property
    def log(self) -> list[dict[str, Any]]:
        files = [*self.out.glob("log/*.jsonl"), *self.out.glob("nodes/*/log/*.jsonl")]
        return [json.loads(line) for file in files for line in file.read_text().splitlines()]

    def asked(self, *words: object) -> dict[str, Any]:
        done = gossamer(*words, "--json")
        assert done.returncode == 0, done.stderr
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer


def crawled(kind: str, out: Path, web: Pages, *options: str) -> Done:
    command = ["crawl"] if kind == "crawl" else ["cluster", "--nodes", "2", *USUAL, *LONG_LEASE]
    seeds = [f"http://{host}:{web.port}/" for host in ("site.test", "busy.test")]
    done = subprocess.run(
        [*GOSSAMER, *command, *seeds, "--scope", "any", "--allow-private", "--delay", "0s", "--json",
         "--out", str(out), *web.named(*HOSTS), *options],
        check=False, capture_output=True, text=True, timeout=200, env=os.environ | {"COLUMNS": "200"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return Done(out, json.loads(done.stdout), done.stderr, web.port)


@pytest.fixture(scope="module", params=["crawl", "cluster"])
def done(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Done:
    out = tmp_path_factory.mktemp(request.param) / "out"
    with serving(SITE) as web:
        return crawled(
            request.param, out, web, "http://mistyped.invalid/", "--set", "politeness.retry_wait=100ms"
        )  # fmt: skip


def test_its_own_numbers_are_those_of_its_log(done: Done) -> None:
    visited = [line for line in done.log if line.get("visited", True)]
    assert done.said["visits"] == len(visited)
    assert done.said["outcomes"] == Counter(line["outcome"] for line in done.log)
    purposes = Counter((line.get("purpose"), line["outcome"]) for line in visited)
    found = {name: dict(done.said[field]) for name, field in (("robots", "robots_files"), ("sitemap", "sitemaps"))}  # fmt: skip
    for name, numbers in found.items():
        assert numbers == {outcome: n for (of, outcome), n in purposes.items() if of == name}
    # The crawl is worth counting: a robots file that moved, one that cannot be had, a name without an address.
    assert found["robots"] == {"fetched": 2, "redirected": 1, "throttled": 6, "dns_not_found": 2}
    assert found["sitemap"] == {"fetched": 1}
    assert done.said["unvisited"] == {"robots_refused": 1, "robots_unreachable": 1, "dns_not_found": 1}  # fmt: skip


def test_the_numbers_come_to_those_of_the_pages(done: Done) -> None:
    said = done.said
    to_pages = {
        outcome: number - sum(said[name].get(outcome, 0) for name in APART)
        for outcome, number in said["outcomes"].items()
    }
    pages = sum(to_pages.get(name, 0) for name in ("fetched", "truncated", "duplicate"))
    # A robots file that a page links to is a page as well.
    assert said["pages"] == pages == 6
    assert to_pages["gone"] == 1
    assert said["visits"] == sum(said["outcomes"].values()) - sum(said["unvisited"].values())


@pytest.mark.parametrize("without", [(), ("state", "control", "engine", "snapshots")])
def test_everybody_says_the_same(done: Done, without: tuple[str, ...], tmp_path: Path) -> None:
    """Also of a copy that has nothing but log, WARC files and settings."""
    out = tmp_path / "copy"
    shutil.copytree(done.out, out, ignore=shutil.ignore_patterns(*without))
    report, status = done.asked("report", out), done.asked("status", "--out", out)
    with opened(out) as view:
        api = view.get("/status")
        history = view.get("/history", seconds=21_600)
    for name in SAME:
        for found in (report, status, api):
            assert found[name] == done.said[name], name
    assert history["columns"]["visits"][-1] == done.said["visits"]
    assert history["columns"]["pages"][-1] == done.said["pages"]
    assert sum(row["visits"] for row in report["busiest_hosts"]) == done.said["visits"]
    assert sum(row["lines"] for row in report["busiest_hosts"]) == len(done.log)


def test_the_audit_counts_as_the_crawl_does(done: Done) -> None:
    audit = done.asked("audit", done.out)
    for name in ("pages", "visits", "outcomes", *APART):
        assert audit[name] == done.said[name], name
    report = {row["what"]: row["number"] for row in done.asked("report", done.out)["not_fetched"]}
    assert audit["not_fetched"] == report
    assert report == {"gone": 1, "robots_refused": 1, "robots_unreachable": 1, "dns_not_found": 1}


def test_the_export_has_a_row_for_each_page(done: Done) -> None:
    rows = [json.loads(line) for line in gossamer("export", done.out).stdout.splitlines()]
    assert len(rows) == done.said["pages"]
    assert f"http://site.test:{done.port}/robots.txt" in {row["url"] for row in rows}


def test_types_are_those_of_the_pages(done: Done) -> None:
    """A page with the content of another has no record of its own to look at."""
    report = done.asked("report", done.out)
    assert report["content"]["records"] == done.said["pages"] - report["duplicates"] == 5
    assert report["content"]["types"] == {"text/html": 4, "text/plain": 1}


def test_people_read_how_the_numbers_come_to_each_other(done: Done, tmp_path: Path) -> None:
    visits, unvisited = done.said["visits"], sum(done.said["unvisited"].values())
    sentence = f"{count(visits)} visits: 7 to pages, 11 to robots files, 1 to sitemaps; {unvisited} URLs left the queue without one"  # fmt: skip
    page = tmp_path / "report.html"
    assert gossamer("report", done.out, "--html", page).returncode == 0
    texts = {
        "summary": done.words,
        "report": gossamer("report", done.out).stdout,
        "audit": gossamer("audit", done.out).stdout,
        "html": " ".join(Parsed(page.read_text()).text),
    }
    for name, text in texts.items():
        plain = " ".join(text.split())
        assert sentence in plain, name
        assert "2 robots files, 1 sitemap" in plain, name


class Slow:
    """The first page is given when the robots file of the busy host was asked for."""

    def __init__(self) -> None:
        self._asked = threading.Event()

    def answer(self, place: str) -> str | Answer:
        if place == "//busy.test/robots.txt":
            self._asked.set()
            return BUSY
        if place == "//site.test/":
            assert self._asked.wait(60)
            return '<a href="/one">1</a> <a href="/two">2</a>'
        return Answer(status=404)


@pytest.fixture(scope="module", params=["crawl", "cluster"])
def stopped(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, Done]]:
    """Ended at a limit, while a host still gave no robots file."""
    out = tmp_path_factory.mktemp(request.param) / "out"
    with serving({"//none.test/": ""}, missing=Slow().answer) as web:
        more = [f"http://busy.test:{web.port}/{name}" for name in ("a", "b")]
        yield request.param, crawled(request.param, out, web, *more, "--max-pages", "1")


def test_urls_of_hosts_without_a_robots_file_are_told_with_the_reason(
    stopped: tuple[str, Done], tmp_path: Path
) -> None:
    kind, done = stopped
    report = done.asked("report", done.out)
    rows = {row["what"]: row for row in report["not_fetched"]}
    row = rows["no_robots"]
    assert (row["number"], row["hosts"]) == (3, [f"busy.test:{done.port}"])
    assert rows["queued"]["number"] + row["number"] == report["urls_queued"] == done.said["urls_queued"]  # fmt: skip
    assert "robots.txt" in row["why"]
    assert "throttled" in row["why"]
    resume = "gossamer crawl --resume" if kind == "crawl" else "gossamer cluster --nodes 2 --resume"
    assert f"{resume} --out {done.out} --max-pages N" in row["change"]
    assert f"gossamer retry HOST --out {done.out}" in row["change"]
    assert "politeness.retry_wait" in row["change"]
    text = gossamer("report", done.out).stdout
    assert "3 no_robots: " in text
    assert f"  busy.test:{done.port}" in text.splitlines()
    page = tmp_path / "report.html"
    assert gossamer("report", done.out, "--html", page).returncode == 0
    assert f"gossamer retry HOST --out {done.out}" in Parsed(page.read_text()).text


def test_so_they_are_while_somebody_looks_at_the_crawl(stopped: tuple[str, Done]) -> None:
    _, done = stopped
    alone = done.asked("report", done.out)["not_fetched"]
    with opened(done.out):
        assert done.asked("report", done.out)["not_fetched"] == alone


def test_hosts_that_were_given_up_say_why(done: Done) -> None:
    rows = {row["what"]: row for row in done.asked("report", done.out)["not_fetched"]}
    assert "robots.txt ended in throttled 1" in rows["robots_unreachable"]["why"]
    assert "politeness.retry_wait" in rows["robots_unreachable"]["change"]
