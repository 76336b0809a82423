"""What a crawl says of a URL."""

import json
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.audit.crawls import Crawl, gossamer
from tests.control.serving import served, until
from tests.native.doors import Crawl as Judged
from tests.native.doors import page, site

from gossamer._native import Batch
from gossamer.cli.why import describe
from gossamer.simweb import Options, serve


def asked(crawl: Crawl, url: str) -> dict[str, Any]:
    done = gossamer("why", url, "--out", crawl.out, "--json")
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def first(crawl: Crawl, outcome: str) -> dict[str, Any]:
    return next(
        line
        for line in crawl.lines()
        if line["outcome"] == outcome and not line["url"].endswith("/robots.txt")
    )


def files(out: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(out)): file.read_bytes()
        for folder in ("warc", "log")
        for file in (out / folder).iterdir()
    }


def test_a_page_that_was_fetched(exported: Crawl) -> None:
    line = first(exported, "fetched")
    before = files(exported.out)
    answer = asked(exported, line["url"] + "?utm_source=x#part")
    assert answer["url"] == line["url"]
    assert answer["seen"] is True
    assert answer["queued"] is None
    assert answer["out_of_scope"] is None
    assert answer["visits"] == [line]
    last = answer["last_visit"]
    assert (last["outcome"], last["status"]) == ("fetched", 200)
    assert last["warc_file"] == exported.warc().name
    host = answer["host_state"]
    assert host["name"] == line["host"]
    assert host["standing"] == "idle"
    assert host["ip"] == line["ip"]
    assert host["gap_source"] in {"setting", "crawl_delay", "response_time"}
    # Looking changes nothing.
    assert files(exported.out) == before


def test_words_for_people(exported: Crawl) -> None:
    line = first(exported, "fetched")
    done = gossamer("why", line["url"], "--out", exported.out)
    assert done.returncode == 0
    for word in ("url:", "robots:", "stored:", "gap:", "next visit:", "2xx with a body"):
        assert word in done.stdout


def test_a_url_that_robots_rules_forbid(exported: Crawl) -> None:
    line = first(exported, "robots_refused")
    answer = asked(exported, line["url"])
    assert answer["robots"]["allowed"] is False
    rule = answer["robots"]["rule"]
    assert rule["allow"] is False
    assert rule["line"] >= 1
    assert answer["last_visit"]["warc_file"] is None
    done = gossamer("why", line["url"], "--out", exported.out)
    assert f"forbidden by line {rule['line']}: Disallow: {rule['pattern']}" in done.stdout


def test_urls_that_were_never_met(exported: Crawl) -> None:
    known = first(exported, "fetched")["url"].rsplit("/", 1)[0]
    answer = asked(exported, known + "/never-met")
    assert (answer["seen"], answer["queued"], answer["last_visit"]) == (False, None, None)
    assert answer["host_state"] is not None
    answer = asked(exported, "http://example.org/picture.jpg")
    assert answer["host_state"] is None
    assert "skip_suffixes" in answer["out_of_scope"]
    done = gossamer("why", "mailto:x@example.org", "--out", exported.out)
    assert done.returncode == 0
    assert "no URL to visit" in done.stdout
    # As a seed may be written; and what is out of scope may well have been linked to.
    done = gossamer("why", "example.org/picture.jpg", "--out", exported.out)
    assert "http://example.org/picture.jpg" in done.stdout
    assert "no: it is out of scope, so links to it are not taken" in done.stdout


def next_queued(crawl: Crawl) -> tuple[str, int]:
    """A URL that a page links to and that was not visited, and its depth: however far the crawl is."""
    lines = crawl.lines()
    done = {line["url"] for line in lines}
    links = {row.url: row.links for row in crawl.rows}
    return next(
        (url, line["depth"] + 1)
        for line in lines
        if line["outcome"] == "fetched"
        for url in links.get(line["url"], [])
        if url not in done
    )


def test_no_crawl_is_wrong_use(tmp_path: Path) -> None:
    done = gossamer("why", "http://a.test/", "--out", tmp_path)
    assert done.returncode == 2
    assert "holds no crawl" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_running_crawl_says_so_and_a_stopped_one_shows_its_queue(tmp_path: Path) -> None:
    out = tmp_path / "crawl"
    # A crawl of minutes: it does not end before it is stopped.
    with serve(Options(hosts=1, pages=3000, port=0)) as web:
        running = subprocess.Popen(
            [
                sys.executable, "-m", "gossamer.cli.main", "crawl", web.url, "--scope", "any",
                "--delay", "200ms", "--allow-private", "--out", str(out),
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            until(lambda: web.requests() >= 4, "the crawl is under way")
            done = gossamer("why", web.url, "--out", out)
            assert done.returncode == 2
            assert "is running" in done.stderr
            assert gossamer("audit", out).returncode == 0
        finally:
            running.terminate()
            assert running.wait(60) == 130
        crawl = Crawl(out, web.options)
        queued, depth = next_queued(crawl)
        answer = asked(crawl, queued)
        assert answer["seen"] is True
        assert answer["queued"]["depth"] == depth
        assert answer["queued"]["not_before"] is None
        assert answer["host_state"]["standing"] == "waiting"
        assert answer["host_state"]["queued"] > 0
        assert answer["host_state"]["gap"] >= 0.2
        assert answer["last_visit"] is None
        report = gossamer("audit", out)
        assert (report.returncode, report.stderr) == (0, "")


def test_a_running_crawl_that_is_served_shows_its_queue_in_words(tmp_path: Path) -> None:
    with (
        serve(Options(hosts=1, pages=3000, port=0)) as web,
        served(tmp_path / "crawl", web, "--delay", "200ms") as running,
    ):
        until(lambda: web.requests() >= 4, "the crawl is under way")
        running.rest()
        queued, depth = next_queued(Crawl(running.out, web.options))
        done = gossamer("why", queued, "--out", running.out)
    assert done.returncode == 0, done.stderr
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("queue:")]
    assert re.search(
        rf"URLs of the host before it, score 0\.\d{{3}} \(band \d+\), depth {depth}", line
    )


def test_what_a_policy_did_to_a_host_is_told_with_its_reason(tmp_path: Path) -> None:
    def told(name: str, **decision: Any) -> dict[str, str]:
        def judge(batch: Batch) -> dict[str, list[Any]]:
            return {column: [value] * len(batch) for column, value in decision.items()}

        doors = {"hosts": {"columns": ["host"], "wait": 20_000}}
        pages = {"/": page(*(f"/{number}" for number in range(50)))}
        with site(pages) as web:
            crawl = Judged(tmp_path / name, doors, {"hosts": judge})

            def is_done() -> bool:
                state = crawl.why(web.url + "/")["host_state"]
                return bool(state and (state["given_up"] or state["set_aside"]))

            crawl.run(web.url + "/", until=is_done)
            account = crawl.why(web.url + "/") | {"visits": []}
            crawl.close()
        return dict(describe(account, 0.0))

    left = told("left", give_up=True, reason="nothing new")
    assert left["given up"] == "by a policy of hosts: nothing new"
    aside = told("aside", set_aside=3600.0, reason="at night")
    assert aside["set aside"] == "by a policy of hosts: at night"


@pytest.mark.parametrize(
    ("outcome", "said"),
    [("dropped", "by a policy: why"), ("set_aside", "why"), ("duplicate", "why")],
)
def test_only_what_a_policy_dropped_was_judged_by_a_policy(
    exported: Crawl, outcome: str, said: str
) -> None:
    account = asked(exported, first(exported, "fetched")["url"])
    account["last_visit"] |= {"outcome": outcome, "reason": "why"}
    assert dict(describe(account, 0.0))["judged"] == said


def test_a_reason_of_another_version_is_told_by_its_name(copied: Crawl) -> None:
    """In a directory without a state, which a newer version may have written."""
    shutil.rmtree(copied.out / "state")
    line = first(copied, "fetched")
    for file in (copied.out / "log").iterdir():
        lines = [json.loads(text) for text in file.read_text().splitlines()]
        for one in lines:
            if one["url"] == line["url"]:
                one["left_out"] = {"moon_phase": 2, "parameter": 1}
        file.write_text("".join(json.dumps(one) + "\n" for one in lines))
    done = gossamer("why", line["url"], "--out", copied.out)
    assert done.returncode == 0, done.stderr
    assert "2 links were not followed: moon_phase, a reason of another version\n" in done.stdout
    assert f"`gossamer patterns {copied.out} --take-up HOST" in done.stdout


def test_every_field_is_documented(exported: Crawl) -> None:
    page = (Path(__file__).parents[2] / "docs/reference/files.md").read_text()
    section = page.split("## `gossamer why URL")[1].split("\n## ")[0]
    account = asked(exported, first(exported, "fetched")["url"])
    inner = {name for part in ("pattern", "last_visit", "host_state") for name in account[part]}
    assert {name for name in account.keys() | inner if f"`{name}`" not in section} == set()


def test_a_copy_without_a_state_is_explained_by_its_log(copied: Crawl) -> None:
    shutil.rmtree(copied.out / "state")
    line = first(copied, "fetched")
    answer = asked(copied, line["url"] + "?utm_source=x")
    assert (answer["url"], answer["visits"], answer["seen"]) == (line["url"], [line], True)
    said = gossamer("why", line["url"], "--out", copied.out).stdout
    assert "\nstate: " in said
    assert "2xx with a body" in said
    assert asked(copied, "http://nobody.test/")["seen"] is None


def test_a_crawl_that_ended_has_a_status(copied: Crawl) -> None:
    done = gossamer("status", "--out", copied.out)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("ended ")
    assert "It is finished: nothing was left to crawl." in done.stdout
    status = json.loads(gossamer("status", "--out", copied.out, "--json").stdout)
    pages = len(gossamer("export", copied.out).stdout.splitlines())
    assert (status["activity"], status["pages"]) == ("finished", pages)


def test_the_address_that_a_killed_crawl_left_is_nobodys(copied: Crawl) -> None:
    control = copied.out / "control"
    control.mkdir(mode=0o700)
    with socket.socket() as nobody:
        # Bound and not listening: nobody answers there.
        nobody.bind(("127.0.0.1", 0))
        (control / "url").write_text(f"http://127.0.0.1:{nobody.getsockname()[1]}\n")
        token = control / "token"
        token.write_text("x" * 40 + "\n")
        token.chmod(0o600)
        for words in (("status",), ("why", first(copied, "fetched")["url"])):
            done = gossamer(*words, "--out", copied.out)
            assert done.returncode == 0, done.stderr
        assert gossamer("report", copied.out).returncode == 0
        assert gossamer("patterns", copied.out).returncode == 0
