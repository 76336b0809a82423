"""Hosts that wait say why: in the live view, in the summary after Ctrl-C, in `status`, in an alert and in `why`."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.control.serving import until
from tests.crawl.crawling import ended
from tests.crawl.pages import Answer, serving

GOSSAMER = [sys.executable, "-m", "gossamer.cli.main"]


def gossamer(*arguments: str | Path) -> str:
    done = subprocess.run(
        [*GOSSAMER, *map(str, arguments)], check=False, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


class Waiting:
    """A crawl that has nothing to do but wait."""

    def __init__(self, url: str, out: Path) -> None:
        self.url = url
        self.out = out
        self.messages = out.with_name("messages")
        self.answer = out.with_name("answer")

    @contextmanager
    def running(self) -> Iterator[subprocess.Popen[bytes]]:
        command = [*GOSSAMER, "crawl", self.url, "--allow-private", "--json", "--serve-port", "0"]
        with self.messages.open("wb") as errors, self.answer.open("wb") as answer:
            process = subprocess.Popen(
                [*command, "--out", str(self.out)], stdin=subprocess.DEVNULL, stdout=answer,
                stderr=errors, env=os.environ | {"COLUMNS": "200"},
            )  # fmt: skip
        with ended(process):
            yield process

    def status(self) -> dict[str, Any]:
        if not (self.out / "control" / "url").exists():
            return {}
        done = subprocess.run(
            [*GOSSAMER, "status", "--out", str(self.out), "--json"], check=False,
            capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        found: dict[str, Any] = json.loads(done.stdout) if done.returncode == 0 else {}
        return found

    def said(self) -> str:
        return self.messages.read_text()


def check(url: str, out: Path, outcome: str, meaning: str, due: re.Pattern[str]) -> None:
    """All places where it is to be told, while it waits and after Ctrl-C."""
    crawl = Waiting(url, out)
    host = url.split("/")[2]
    sentence = re.compile(rf"1 host waits: {outcome}; next try in {due.pattern} \({host}\)")
    with crawl.running() as process:
        status = until(lambda: (now := crawl.status()).get("waits") and now, "the reason")
        assert status["waits"][outcome]["hosts"] == 1
        assert status["waits"][outcome]["host"] == host
        assert status["waits"][outcome]["due"] > status["time"]
        assert len(status["waits"]) == 1
        alerts = {alert["kind"]: alert["text"] for alert in status["alert_list"]}
        assert sentence.search(alerts["hosts_wait"])
        assert sentence.search(gossamer("status", "--out", out))
        assert f"{outcome}: {meaning}" in gossamer("why", url, "--out", out)
        until(lambda: sentence.search(crawl.said()), "a line of the live view", 15)
        process.send_signal(signal.SIGINT)
        process.wait(60)
    summary = crawl.said().split(" known, ")[1]
    assert sentence.search(summary), summary
    last = json.loads(crawl.answer.read_text().splitlines()[-1])
    assert last["waits"][outcome]["hosts"] == 1
    assert f"{outcome}: {meaning}" in gossamer("why", url, "--out", out)


def test_a_closed_port(tmp_path: Path) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/"
        check(url, tmp_path / "out", "connect_failed", "no connection", re.compile(r"\d+ s"))


def test_a_robots_file_that_asks_for_an_hour(tmp_path: Path) -> None:
    busy = Answer(status=503, headers={"Retry-After": "3600"})
    with serving({}, lambda _path: busy) as pages:
        url = f"http://127.0.0.1:{pages.port}/"
        check(url, tmp_path / "out", "throttled", "429 or 503", re.compile("(59 min|60 min|1 h)"))


def test_the_gap_of_a_host_is_no_reason(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with serving({"/": '<a href="/b">b</a>', "/b": "b"}) as pages:
        url = f"http://127.0.0.1:{pages.port}/"
        options = ("--allow-private", "--delay", "1s", "--json", "--out", out)
        done = subprocess.run(
            [*GOSSAMER, "crawl", url, *map(str, options)], check=True, capture_output=True,
            text=True, timeout=60,
        )  # fmt: skip
    assert json.loads(done.stdout.splitlines()[-1])["waits"] == {}
    assert "host waits" not in done.stderr
