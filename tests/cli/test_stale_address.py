"""The address that a killed or copied crawl left in its directory may be anybody's: it is never sent a token."""

import contextlib
import http.server
import os
import secrets
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.audit.crawls import Crawl
from tests.cli.driven import drive
from tests.cli.wrong_use import ASKING, IN_DIRECTORY, URL

from gossamer.control import client
from gossamer.control.client import GoneError

STARTING = {"crawl", "cluster", "open"}
"""They go on with the crawl, or serve it themselves."""
HOST = "a.example"


class Stranger:
    """Listens at an address that was a control node's, and keeps what it is sent."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        stranger = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self) -> None:
                stranger.asked.append(f"{self.command} {self.path} {self.headers}")
                self.send_response(200)
                self.end_headers()
                self.wfile.write(b"{}")

            do_GET = do_POST = do_PATCH = answer  # noqa: N815

            def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
                """Nothing."""

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def stranger() -> Iterator[Stranger]:
    one = Stranger()
    with one.server:
        threading.Thread(target=one.server.serve_forever, daemon=True).start()
        yield one
        one.server.shutdown()


def ended_process() -> int:
    gone = subprocess.Popen(["true"])
    gone.wait()
    return gone.pid


def leave(control: Path, url: str, pid: int | None) -> None:
    """What a control node that was killed leaves behind."""
    control.mkdir(mode=0o700, parents=True, exist_ok=True)
    (control / "url").write_text(f"{url}\n")
    (control / "token").write_text(secrets.token_urlsafe(32) + "\n")
    (control / "token").chmod(0o600)
    if pid is not None:
        (control / "pid").write_text(f"{pid}\n")


@pytest.mark.parametrize("place", [".", "control"], ids=["a control node's own", "a crawl's"])
@pytest.mark.parametrize("with_pid", [True, False])
def test_every_command_that_asks_says_that_it_does_not_run(
    stranger: Stranger, tmp_path: Path, place: str, with_pid: bool
) -> None:
    leave(tmp_path / "left" / place, stranger.url, ended_process() if with_pid else None)
    lines = [[*IN_DIRECTORY[name], "left"] for name in ASKING if name != "why"]
    lines += [["patterns", "left"], ["patterns", "left", "--take-up", HOST]]
    for ended in drive(lines, tmp_path):
        assert ended.code == 1, ended
        line = ended.err.decode()
        assert line.startswith(f"gossamer: the control node of left does not run any more: {stranger.url}"), line  # fmt: skip
        assert "name it with --control URL" in line
    assert stranger.asked == []


def test_every_command_on_a_crawl_that_was_killed_or_copied(
    copied: Crawl, stranger: Stranger
) -> None:
    leave(copied.out / "control", stranger.url, ended_process())
    lines = [[*IN_DIRECTORY[name], str(copied.out)] for name in IN_DIRECTORY if name not in STARTING]  # fmt: skip
    lines += [["patterns", str(copied.out), "--take-up", HOST], ["aliases", str(copied.out)]]
    codes = {tuple(one.words): one.code for one in drive(lines, copied.out.parent)}
    assert stranger.asked == []
    for looks in (["status", "--out"], ["report"], ["why", URL, "--out"], ["patterns"]):
        assert codes[*looks, str(copied.out)] == 0


def test_a_cluster_that_was_killed(copied: Crawl, stranger: Stranger, tmp_path: Path) -> None:
    out = tmp_path / "cluster"
    (out / "nodes").mkdir(parents=True)
    shutil.copy(copied.out / "crawl.toml", out)
    leave(out / "control", stranger.url, ended_process())
    lines = [[*IN_DIRECTORY[name], "cluster"] for name in IN_DIRECTORY if name not in STARTING]
    drive(lines, tmp_path)
    assert stranger.asked == []


def test_a_crawl_that_runs_now_without_a_control_node(copied: Crawl, stranger: Stranger) -> None:
    """It was killed, and goes on without --serve: its state is in use, and the address is still there."""
    leave(copied.out / "control", stranger.url, ended_process())
    with holding(copied.out):
        lines = [["why", URL, "--out"], ["patterns"], ["aliases"], ["status", "--out"]]
        told = drive([[*words, str(copied.out)] for words in lines], copied.out.parent)
    assert stranger.asked == []
    for ended in told:
        line = ended.err.decode()
        assert ended.code in {1, 2}, ended
        assert "running" in line or "runs without a control API" in line or "--serve" in line, line


@contextlib.contextmanager
def holding(out: Path) -> Iterator[None]:
    """Another process has the state open, as a crawl that runs."""
    script = (
        "import sys; from pathlib import Path; from gossamer.cli.stopped import open_nodes\n"
        "nodes = open_nodes(Path(sys.argv[1])); print('open', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(out)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        assert process.stdout.readline() == b"open\n"
        try:
            yield
        finally:
            process.stdin.close()


def test_one_that_is_named_is_asked_wherever_it_runs(stranger: Stranger, tmp_path: Path) -> None:
    """In a container its process has another number: its user names the address."""
    leave(tmp_path / "control", stranger.url, ended_process())
    with pytest.raises(GoneError, match="does not run any more"):
        client.find(None, tmp_path)
    assert client.find(stranger.url, tmp_path).get("/status") == {}
    (asked,) = stranger.asked
    assert (tmp_path / "control" / "token").read_text().strip() in asked
    (tmp_path / "control" / "pid").write_text(f"{os.getpid()}\n")
    assert client.find(None, tmp_path).get("/status") == {}
