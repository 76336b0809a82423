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
