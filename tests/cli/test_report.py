"""`gossamer report`: its figures are those of the crawl itself and of the web that was crawled."""

import json
import shutil
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
from tests.audit.crawls import Crawl, gossamer
from tests.control.serving import requests, served, until
from tests.report.test_html import Parsed

from gossamer.report import content
from gossamer.report.content import read_content
from gossamer.simweb import Options, serve


@dataclass
class Done:
    """A crawl that has ended, what it said of itself, and what the web saw of it."""

    crawl: Crawl
    said: dict[str, Any]
    requests: list[tuple[float, str, str]]

    @cached_property
    def report(self) -> dict[str, Any]:
        return reported(self.crawl.out)


def reported(out: Path) -> dict[str, Any]:
    done = gossamer("report", out, "--json")
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def crawled(out: Path, *options: str) -> Done:
    log = out.with_name(f"{out.name}.requests")
    web = Options(
        hosts=8, pages=200, port=0, robots=1.0, sitemaps=0.6, duplicates=0.1, redirects=0.05, dead_links=0.05,
        errors=0.01, charsets=0.3, compression=0.5,
    )  # fmt: skip
    with serve(web, log=log) as server:
        done = gossamer(
            "crawl", server.url, "--scope", "any", "--delay", "5ms", "--allow-private", "--out", out, "--json",
            "--set", "politeness.retry_wait=100ms", "--set", "politeness.robots_patience=1s", *options,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        # A line is in the file some 50 ms after the request.
        until(lambda: len(requests(log)) >= server.requests(), "all requests are in the log")
        return Done(
            Crawl(out, server.options),
            json.loads(done.stdout) | {"words": done.stderr},
            requests(log),
        )


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Done:
    return crawled(tmp_path_factory.mktemp("reported") / "crawl")


def check_counts(report: dict[str, Any], said: dict[str, Any]) -> None:
    """The report and the crawl's own counters say the same."""
    for name in (
        "pages",
        "visits",
        "pages_dropped",
        "bytes",
        "outcomes",
        "robots_files",
        "sitemaps",
        "probes",
        "unvisited",
        "links_left_out",
        "robots_said",
        "soft_404s",
    ):
        assert report[name] == said[name], name


def test_its_counts_are_those_of_the_crawl(done: Done) -> None:
    report = done.report
    check_counts(report, done.said)
    for name in ("urls_seen", "urls_queued", "urls_set_aside", "aliases"):
        assert report[name] == done.said[name], name
    assert report["state"] == "finished"
    assert report["go_on"] is None
    assert report["hosts"] == len({host for _, host, _ in done.requests})


def test_its_visits_are_those_that_the_web_saw(done: Done) -> None:
    report = done.report
    assert report["visits"] == len(done.requests)
    seen = Counter(host for _, host, _ in done.requests)
    assert {row["host"]: row["visits"] for row in report["largest_hosts"]}.items() <= seen.items()
    first, last = done.requests[0][0], max(moment for moment, _, _ in done.requests)
    # A visit begins before its request arrives, and ends after it.
    assert report["began"] <= first < last <= report["ended"]
    robots = sum(path == "/robots.txt" for _, _, path in done.requests)
    assert sum(report["robots_files"].values()) == robots


def test_pages_over_time_depth_and_hosts_add_up(done: Done) -> None:
    report = done.report
    assert sum(report["timeline"]["pages"]) == report["pages"]
    assert sum(report["timeline"]["bytes"]) == report["bytes"]
    assert sum(report["depths"].values()) == report["pages"]
    assert sum(row["pages"] for row in report["largest_hosts"]) == report["pages"]
    groups = [sum(report["timeline"][name]) for name in ("done", "refused", "failed")]
    assert sum(groups) == report["lines"] == sum(report["outcomes"].values())


def test_duplicates_and_types_are_those_of_the_truth(done: Done) -> None:
    report = done.report
    said = [json.loads(row) for row in gossamer("export", done.crawl.out).stdout.splitlines()]
    assert report["pages"] == len(said)
    assert report["duplicates"] == sum(row["duplicate_of"] is not None for row in said) > 0
    languages = Counter(row["lang"].split("-")[0] for row in said if row["lang"])
    assert report["content"]["languages"] == dict(languages)
    assert report["content"]["whole"]
    known = {row.url for row in done.crawl.rows if row.allowed}
    assert {row["url"] for row in said} <= known


def test_settings_that_differ_are_named_and_no_others(done: Done) -> None:
    rows = {row["name"]: row["value"] for row in done.report["settings"]}
    assert rows == {
        "scope.kind": "any", "politeness.delay": "5ms", "fetch.allow_private": True,
        "politeness.retry_wait": "100ms", "politeness.robots_patience": "1s",
    }  # fmt: skip


def test_a_copy_without_a_state_has_the_same_figures(done: Done, tmp_path: Path) -> None:
    copy = done.crawl.copy(tmp_path / "copy")
    shutil.rmtree(copy.out / "state")
    report = reported(copy.out)
    check_counts(report, done.said)
    assert (report["state"], report["urls_queued"], report["urls_seen"]) == ("unknown", None, None)
    assert "no state/" in report["state_words"]


def test_a_crawl_that_ended_at_a_limit_says_how_to_go_on(tmp_path: Path) -> None:
    done = crawled(tmp_path / "crawl", "--max-pages", "30")
    report = done.report
    assert (report["pages"], report["state"]) == (30, "limit_reached")
    queued, *others = [
        row for row in report["not_fetched"] if row["what"] in {"queued", "no_robots"}
    ]
    numbers = [row["number"] for row in (queued, *others)]
    assert sum(numbers) == done.said["urls_queued"] > 0
    assert queued["what"] == "queued"
    assert queued["change"] == f"gossamer crawl --resume --out {done.crawl.out} --max-pages N"
    assert report["go_on"] == queued["change"]


def test_what_was_not_fetched_is_that_of_the_audit(done: Done) -> None:
    audit = json.loads(gossamer("audit", done.crawl.out, "--json").stdout)
    rows = {row["what"]: row["number"] for row in done.report["not_fetched"]}
    assert rows == audit["not_fetched"]
    assert all(
        str(done.crawl.out) in row["change"]
        for row in done.report["not_fetched"]
        if "gossamer" in row["change"]
    )


def test_text_fits_eighty_columns_and_commands_are_whole(done: Done) -> None:
    said = gossamer("report", done.crawl.out)
    assert said.returncode == 0, said.stderr
    lines = said.stdout.splitlines()
    long = [line for line in lines if len(line) > 80]
    # What is to be copied is not broken.
    assert all(
        line.startswith("  ") or "gossamer" in line or line == str(done.crawl.out) for line in long
    )
    assert f"{done.said['pages']} pages" in said.stdout
    for title in (
        "Pages over time",
        "Outcomes",
        "Not fetched",
        "Slowest hosts",
        "Largest sites",
        "Settings",
    ):
        assert any(line.startswith(title) for line in lines), title


def test_html_is_one_file_without_a_script(done: Done, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    said = gossamer("report", done.crawl.out, "--html", file)
    assert (said.returncode, said.stdout) == (0, "")
    parsed = Parsed(file.read_text())
    assert "script" not in parsed.tags
    assert not parsed.attributes & {"src", "href"}
    text = " ".join(parsed.text)
    for host in {host for _, host, _ in done.requests}:
        assert host in text
    assert not list(tmp_path.glob("*.new"))


def test_looking_changes_nothing(done: Done, tmp_path: Path) -> None:
    copy = done.crawl.copy(tmp_path / "copy")

    def files() -> dict[str, bytes]:
        return {
            str(file): file.read_bytes()
            for name in ("log", "warc")
            for file in (copy.out / name).iterdir()
        }

    before, first = files(), reported(copy.out)
    assert gossamer("status", "--out", copy.out).returncode == 0
    assert files() == before
    assert reported(copy.out) == first
    assert sorted(file.name for file in copy.out.iterdir()) == [
        "crawl.toml",
        "log",
        "runs.jsonl",
        "state",
        "warc",
    ]


def test_a_running_crawl_is_reported_so_far(tmp_path: Path) -> None:
    with (
        serve(Options(hosts=1, pages=3000, port=0)) as web,
        served(tmp_path / "crawl", web, "--delay", "200ms") as running,
    ):
        until(lambda: web.requests() >= 4, "the crawl is under way")
        running.rest()
        report = reported(running.out)
        status = running.get("/status")
        assert (report["state"], report["go_on"]) == ("running", None)
        assert report["pages"] == status["pages"] > 0
        assert report["urls_queued"] == status["urls_queued"] > 0
        seen = gossamer("open", running.out)
        assert seen.returncode == 2
        assert f"is running; its own dashboard: {running.url}" in seen.stderr


def test_no_crawl_is_wrong_use(tmp_path: Path) -> None:
    for command in ("report", "open"):
        done = gossamer(command, tmp_path)
        assert done.returncode == 2
        assert "holds no crawl" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_end_of_a_crawl_names_both_ways_to_look_at_it(done: Done) -> None:
    out = done.crawl.out
    assert f"gossamer report {out}, or gossamer open {out}" in done.said["words"].splitlines()[-1]


def test_of_a_large_crawl_the_beginnings_of_files_are_read(
    done: Done, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = read_content(done.crawl.out)
    monkeypatch.setattr(content, "SAMPLE", 1 << 20)
    part = read_content(done.crawl.out)
    assert whole.whole
    assert not part.whole
    assert 0 < part.records < whole.records
    assert read_content(done.crawl.out, whole=True) == whole


def test_a_crawl_that_was_killed_is_reported_to_its_last_commit(tmp_path: Path) -> None:
    with (
        serve(Options(hosts=2, pages=3000, port=0)) as web,
        served(tmp_path / "crawl", web, "--delay", "20ms") as running,
    ):
        until(lambda: running.get("/status")["pages"] > 20, "there are pages")
        running.kill()
        report = reported(running.out)
        assert report["state"] == "stopped"
        assert report["go_on"] == f"gossamer crawl --resume --out {running.out}"
        assert report["pages"] == sum(report["depths"].values()) > 20
        assert gossamer("audit", running.out).returncode == 0
        status = gossamer("status", "--out", running.out)
        assert status.returncode == 0
        assert "It was killed; " in status.stdout
        (run,) = report["runs"]
        assert (run["state"], run["ended"], run["pages"]) == ("killed", None, report["pages"])
        assert f"The last run was killed: it could not write down its end. Go on with: {report['go_on']}" in (
            gossamer("report", running.out).stdout
        )  # fmt: skip
        # The next start cuts what was not committed; then the files have the same pages.
        limit = str(report["pages"])
        assert (
            gossamer("crawl", "--resume", "--out", running.out, "--max-pages", limit).returncode
            == 0
        )
        rows = gossamer("export", running.out).stdout.splitlines()
        assert len(rows) == report["pages"]
