"""After a crawl that brought no page: the corrected command, `--resume`, and `retry` all try again."""

import json
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.audit.crawls import gossamer
from tests.crawl.pages import Answer, Pages, serving

from gossamer._native import WarcReader
from gossamer.library import warc_files
from gossamer.library.fetch_log import read_log

SOON = ("--set", "politeness.retry_wait=100ms")
LOST_LINE = (
    '{"time":"2026-01-01T00:00:00.000000Z","url":"%s/","host":"127.0.0.1","ip":null,"outcome":"connect_failed",'
    '"status":null,"bytes":0,"ms":1.0,"depth":0,"from":null,"digest":null}\n'
)
SITE = {"/": '<a href="/b">b</a>', "/b": "page b"}


@pytest.fixture
def site() -> Iterator[Pages]:
    with serving(SITE) as pages:
        yield pages


@pytest.fixture
def closed() -> Iterator[socket.socket]:
    with socket.socket() as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        one.bind(("127.0.0.1", 0))
        yield one


def pages_of(done: subprocess.CompletedProcess[str]) -> int:
    assert done.returncode == 0, done.stderr
    return int(json.loads(done.stdout.splitlines()[-1])["pages"])


@pytest.mark.parametrize("command", ["crawl", "cluster"])
def test_the_corrected_command_takes_the_same_directory(
    site: Pages, tmp_path: Path, command: str
) -> None:
    out = tmp_path / "out"
    words = [command, f"http://127.0.0.1:{site.port}/", "--out", out, "--delay", "1ms", "--json"]
    if command == "cluster":
        words += ["--nodes", "1", "--set", "control.port=0"]
    assert gossamer(*words).returncode == 1
    (out / "notes.txt").write_text("mine")
    corrected = gossamer(*words, "--allow-private")
    assert pages_of(corrected) == 2
    assert "held a crawl to which no page answered (1 visit); it is begun anew" in corrected.stderr
    assert (out / "notes.txt").read_text() == "mine", "only the crawl's own files go"
    assert gossamer("audit", out).returncode == 0
    again = gossamer(*words, "--allow-private")
    assert (again.returncode, "holds a crawl already" in again.stderr) == (2, True)


def in_warc(out: Path) -> list[str]:
    return [
        record.uri or ""
        for file in warc_files(out)
        for record in WarcReader(file)
        if record.kind == "response"
    ]


def test_answers_are_kept_whatever_the_log_says(tmp_path: Path) -> None:
    """An error page is an answer, and so is one of which only the WARC file or the state knows."""
    out = tmp_path / "out"
    options = ["--out", out, "--allow-private", "--delay", "1ms"]
    with serving({"/c": "page"}, missing=lambda _path: Answer("no", status=403)) as pages:
        site = f"http://127.0.0.1:{pages.port}"
        assert gossamer("crawl", f"{site}/a", *options).returncode == 1
        kept = in_warc(out)
        assert f"{site}/a" in kept
        other = gossamer("crawl", f"{site}/c", *options)
        assert (other.returncode, "holds a crawl already" in other.stderr) == (2, True)
        for log in (out / "log").iterdir():
            log.write_text("")
        assert gossamer("crawl", f"{site}/c", *options).returncode == 2
        assert in_warc(out) == kept
        assert (
            gossamer("crawl", f"{site}/c", *options[2:], "--out", tmp_path / "had").returncode == 0
        )
        # Its pages were moved away; the state has them.
        shutil.rmtree(tmp_path / "had" / "warc")
        line = (tmp_path / "had" / "log" / "x.jsonl", (LOST_LINE % site).encode())
        for log in (tmp_path / "had" / "log").iterdir():
            log.unlink()
        line[0].write_bytes(line[1])
        moved = gossamer("crawl", f"{site}/c", *options[2:], "--out", tmp_path / "had")
        assert (moved.returncode, "holds a crawl already" in moved.stderr) == (2, True)


def test_a_crawl_that_runs_is_left_alone(closed: socket.socket, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = [
        "crawl",
        f"http://127.0.0.1:{closed.getsockname()[1]}/",
        "--allow-private",
        "--out",
        out,
    ]
    command = [sys.executable, "-m", "gossamer.cli.main", *map(str, words)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as first:
        assert first.stderr is not None
        # The log has its failures, the crawl waits for the next try.
        for line in first.stderr:
            if "crawling: " in line and "connect_failed" in line:
                break
        log = next(iter((out / "log").glob("*.jsonl")))
        second = gossamer(*words)
        assert second.returncode != 0
        assert "holds a crawl that is running" in second.stderr
        assert second.returncode == 2
        assert log.exists()
        first.terminate()
        first.stderr.read()
    assert first.returncode == 130


@pytest.mark.parametrize("named", [True, False])
def test_resume_tries_seeds_again_that_brought_nothing(
    site: Pages, tmp_path: Path, named: bool
) -> None:
    out, seed = tmp_path / "out", f"http://127.0.0.1:{site.port}/"
    assert gossamer("crawl", seed, "--out", out, "--delay", "1ms").returncode == 1
    again = [seed] if named else []
    resumed = gossamer("crawl", *again, "--resume", "--out", out, "--allow-private", "--json")
    assert pages_of(resumed) == 2
    assert json.loads(resumed.stdout.splitlines()[-1])["urls_seen"] == 2, "the seed counts once"
    # A page that was had is not fetched again because it is named once more.
    assert pages_of(gossamer("crawl", seed, "--resume", "--out", out, "--json")) == 2
    assert sorted(site.asked) == ["/", "/b", "/robots.txt"]


def test_a_host_that_gave_no_robots_rules_is_tried_at_once_by_retry(
    closed: socket.socket, tmp_path: Path
) -> None:
    out, port = tmp_path / "out", closed.getsockname()[1]
    host = f"127.0.0.1:{port}"
    command = [
        sys.executable, "-m", "gossamer.cli.main", "crawl", f"http://{host}/", "--out", str(out), "--allow-private",
        "--serve-port", "0", "--delay", "1ms", "--json",
    ]  # fmt: skip
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as one:
        assert one.stderr is not None
        assert one.stdout is not None
        for line in one.stderr:
            # The next try is ten seconds away, and so is the end.
            if "next try in" in line:
                assert "at least 0 s left" not in line
                break
        why = json.loads(gossamer("why", f"http://{host}/", "--out", out, "--json").stdout)
        due = why["host_state"]["due"]
        assert due == pytest.approx(why["host_state"]["robots"]["http"]["until"], abs=1)
        closed.close()
        with serving(SITE, port=port) as pages:
            assert gossamer("retry", host, "--out", out).returncode == 0
            said = one.stdout.read()
            one.stderr.read()
        assert json.loads(said.splitlines()[-1])["pages"] == 2
        assert pages.asked[0] == "/robots.txt"
    failed = [line for line in read_log(out) if line.outcome == "connect_failed"]
    assert len(failed) == 1, "tried at once, not later"


def test_time_that_passed_after_the_last_visit_is_kept(
    closed: socket.socket, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    command = [
        sys.executable, "-m", "gossamer.cli.main", "crawl", f"http://127.0.0.1:{closed.getsockname()[1]}/",
        "--allow-private", "--out", str(out), "--json",
    ]  # fmt: skip
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as one:
        assert one.stderr is not None
        assert one.stdout is not None
        for line in one.stderr:
            if "next try in" in line:
                break
        one.terminate()
        told = json.loads(one.stdout.read().splitlines()[-1])["seconds"]
        one.stderr.read()
    status = json.loads(gossamer("status", "--out", out, "--json").stdout)
    assert told > 0.9
    assert status["seconds"] == pytest.approx(told, abs=0.3)
