"""A command that a message offers can be copied into a shell, whatever the crawl's directory is called."""

import contextlib
import html
import http.client
import json
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.cli.offered import GOSSAMER, run, run_copied, those_about
from tests.control.doubting import doubtful, served_random, site
from tests.control.serving import until

from gossamer.simweb import Options, serve

OUT = "my crawl's & more; $HOME"
"""Blanks, a quote, and what a shell would carry out."""


class Crawled(NamedTuple):
    place: Path
    url: str
    said: str


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    """A crawl that stopped at a limit, with pages that robots rules forbid."""
    place = tmp_path_factory.mktemp("copied")
    with serve(Options(port=0, hosts=2, pages=60, robots=1.0, crawl_delay=0.0)) as web:
        ended = run(
            place, "crawl", web.url, "--allow-private", "--delay", "0s", "--max-pages", "20",
            "--scope", "any", "--out", OUT,
        )  # fmt: skip
        assert ended.returncode == 0, ended.stderr
        yield Crawled(place, web.url, ended.stderr)


def check(text: str, crawled: Crawled, *wanted: str) -> None:
    """Each wanted command is offered for the directory, and works as it stands."""
    commands = those_about(text, OUT) + those_about(text, crawled.place / OUT)
    assert {shlex.split(one)[1] for one in commands} == set(wanted), text
    assert text.count(OUT.replace("'", "'\"'\"'")) >= len(commands)
    for command in commands:
        ended = run_copied(command, crawled.place, crawled.url)
        assert ended.returncode == 0, (command, ended.stderr)


def test_those_of_the_summary(crawled: Crawled) -> None:
    check(crawled.said, crawled, "why", "report", "open", "crawl")


def test_those_of_status_and_report(crawled: Crawled) -> None:
    told = run(crawled.place, "status", "--out", OUT)
    check(told.stdout, crawled, "report", "open")
    told = run(crawled.place, "report", OUT)
    check(told.stdout, crawled, "why", "crawl")
    found = json.loads(run(crawled.place, "report", OUT, "--json").stdout)
    check("\n".join(row["change"] for row in found["not_fetched"]), crawled, "why", "crawl")
    assert run(crawled.place, "report", OUT, "--html", "r.html").returncode == 0
    page = html.unescape((crawled.place / "r.html").read_text().replace("<", "\n<"))
    assert shlex.quote(OUT) in page


def test_those_of_errors(crawled: Crawled) -> None:
    told = run(crawled.place, "cluster", "--resume", "--out", OUT)
    assert told.returncode == 2
    check(told.stderr, crawled, "crawl")
    odd = "it's a site.example/a?b&c=$d"
    told = run(crawled.place, odd)
    assert shlex.join(["gossamer", "crawl", odd]) in told.stderr


def test_those_of_the_api(crawled: Crawled) -> None:
    process = subprocess.Popen(
        [*GOSSAMER, "open", OUT, "--port", "0"], cwd=crawled.place, text=True,
        stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith("read-only:"):
                break
        control = crawled.place / OUT / "control"
        address = (control / "url").read_text().strip().removeprefix("http://")
        headers = {"Authorization": f"Bearer {(control / 'token').read_text().strip()}"}

        def ask(method: str, path: str, body: str | None = None) -> str:
            typed = headers | {"Content-Type": "application/json"}
            with contextlib.closing(http.client.HTTPConnection(address, timeout=30)) as connection:
                connection.request(method, f"/api/v1{path}", body, typed)
                return connection.getresponse().read().decode()

        refused = json.loads(ask("POST", "/commands", '{"command": "pause"}'))["detail"]
        (alert, *_) = json.loads(ask("GET", "/alerts"))
    finally:
        process.terminate()
        process.communicate(timeout=30)
    check(refused, crawled, "crawl")
    check(alert["hint"], crawled, "crawl")


def test_those_of_why(tmp_path: Path) -> None:
    """URLs that were set aside, and a parameter that changes nothing."""
    with doubtful() as web:
        ended = run(tmp_path, "crawl", web.url, "--allow-private", "--delay", "0s", "--out", OUT)
        assert ended.returncode == 0, ended.stderr
        aside = next(path for path in site() if path.endswith("/edit") and path not in web.forms)
        told = run(tmp_path, "why", web.url + aside[1:], "--out", OUT)
        check(told.stdout, Crawled(tmp_path, web.url, ""), "patterns")
        assert "URLs of its pattern in all" in told.stdout
        again = run(tmp_path, "why", web.url + aside[1:], "--out", OUT)
        assert "taken up by command" in again.stdout


def test_those_of_why_about_a_parameter_and_by_a_control_node(tmp_path: Path) -> None:
    with served_random(tmp_path / OUT) as (crawl, web):
        until(lambda: crawl.get("/status")["activity"] == "finished", "the end")
        url = f"{web.url}page3?ref=new"
        offers = []
        for where in (["--out", OUT], ["--control", crawl.url, "--out", OUT]):
            told = run(tmp_path, "why", url, *where)
            assert told.returncode == 0, told.stderr
            offers += those_about(told.stdout, OUT)
        here, there = offers
        assert ("--control" in here, "--control" in there) == (False, True)
        ended = run_copied(there, tmp_path, web.url)
        assert ended.returncode == 0, ended.stderr
        assert "?ref: stays, by command" in ended.stdout
        assert run_copied(here, tmp_path, web.url).returncode == 0
