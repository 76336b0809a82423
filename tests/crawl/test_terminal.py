"""What people see while a crawl goes on, of real processes: failures at once, one count, what an end waits for."""

import contextlib
import fcntl
import os
import pty
import re
import signal
import socket
import struct
import subprocess
import termios
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import pytest
from tests.crawl.crawling import COMMAND, ended, until
from tests.crawl.pages import Answer, crawl, serving
from tests.crawl.prose import prose
from tests.native.hostile_server import HostileServer, then_silence
from warcio.archiveiterator import ArchiveIterator

from gossamer.policy.hosts.outcomes import REACTIONS

SOON = ("--set", "politeness.retry_wait=500ms")


class Screen:
    """A process with standard error on a terminal of that size, and all that it wrote there."""

    def __init__(self, *arguments: str | Path, width: int, height: int) -> None:
        self._arguments = [*COMMAND, *map(str, arguments)]
        self._size = struct.pack("HHHH", height, width, 0, 0)
        self.said = ""

    def __enter__(self) -> Self:
        ours, theirs = pty.openpty()
        self._ours = ours
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, self._size)
        self.process = subprocess.Popen(
            self._arguments,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=theirs,
            env={k: v for k, v in os.environ.items() if k not in {"COLUMNS", "LINES"}}
            | {"TERM": "xterm"},
        )
        os.close(theirs)
        self._reading = threading.Thread(target=self._read, args=(ours,))
        self._reading.start()
        return self

    def _read(self, ours: int) -> None:
        with os.fdopen(ours, "rb", buffering=0) as terminal, contextlib.suppress(OSError):
            # The end of all who hold the other side is an error here.
            while more := terminal.read(65536):
                self.said += more.decode(errors="replace")

    def __exit__(self, *_: object) -> None:
        with ended(self.process):
            self.process.wait(60)
        self._reading.join()

    def resize(self, width: int, height: int) -> None:
        fcntl.ioctl(self._ours, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))

    def lines(self) -> list[str]:
        """Everything ever shown, without colours and movements."""
        return re.split(r"[\r\n]+", re.sub(r"\x1b\[[?\d;]*[A-Za-z]", "", self.said))


@contextlib.contextmanager
def lines_of(*arguments: str | Path, file: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process whose standard error is a file."""
    with file.open("wb") as errors:
        process = subprocess.Popen(
            [*COMMAND, *map(str, arguments)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
        )
    with ended(process):
        yield process


def panel_lines(screen: Screen) -> list[str]:
    return [line for line in screen.lines() if line.startswith(("│", "╭", "╰"))]


@pytest.fixture
def closed() -> Iterator[str]:
    """A URL where nobody listens."""
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{holder.getsockname()[1]}/"


@pytest.fixture
def slow() -> Iterator[str]:
    """A page that begins and does not go on; the rules of robots come at once."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1000\r\n\r\n"
    with HostileServer({"/page": then_silence(head, seconds=60)}) as server:
        yield server.url("/page")


def test_a_seed_that_fails_is_told_at_once_without_a_terminal(tmp_path: Path, closed: str) -> None:
    file = tmp_path / "said"
    # With its usual waits this crawl would end after more than a minute: the line comes before that.
    with lines_of(closed, "--allow-private", "--out", tmp_path / "out", file=file) as process:
        until(lambda: f"seed {closed}: connect_failed" in file.read_text(), "the failure", 20)
        assert process.poll() is None
        assert REACTIONS["connect_failed"].remedy in file.read_text()
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130


def test_a_seed_that_fails_is_told_above_the_panel(tmp_path: Path, closed: str) -> None:
    arguments = (closed, "--allow-private", "--out", tmp_path / "out")
    with Screen(*arguments, width=80, height=24) as screen:
        until(lambda: f"seed {closed}:" in screen.said, "the failure", 20)
        assert screen.process.poll() is None
        screen.process.send_signal(signal.SIGINT)
        assert screen.process.wait(30) == 130


def test_seeds_that_cannot_be_had_end_with_1_and_each_is_told(tmp_path: Path, closed: str) -> None:
    done = crawl(closed, "http://169.254.1.1/", *SOON, out=tmp_path / "out", code=1)
    assert f"seed {closed}: connect_failed" in done.said
    assert "seed http://169.254.1.1/" in done.said
    assert done.summary["seeds_failed"] == 2


@pytest.mark.parametrize(("width", "height"), [(80, 24), (160, 50)])
def test_a_panel_never_writes_a_line_that_is_wider_than_the_terminal(
    tmp_path: Path, width: int, height: int
) -> None:
    links = "".join(f"<a href=/{number}>page</a>" for number in range(30))
    with serving({"/": links}) as pages:
        arguments = (f"http://127.0.0.1:{pages.port}/", "--allow-private", "--delay", "0.1s")
        with Screen(*arguments, "--out", tmp_path / "out", width=width, height=height) as screen:
            until(lambda: "slowest hosts" in screen.said, "the panel", 20)
            assert screen.process.wait(60) == 0
    panels = panel_lines(screen)
    assert panels
    assert {len(line) for line in panels} == {width}
    assert any("at least" in line for line in panels)
    # Each drawing is shown when it is whole: what erases stands between the marks of one.
    outside = re.sub(r"\x1b\[\?2026h.*?\x1b\[\?2026l", "", screen.said, flags=re.DOTALL)
    assert "\x1b[2K" not in outside


def test_a_terminal_that_is_resized_is_used_as_it_is_then(tmp_path: Path, closed: str) -> None:
    arguments = (closed, "--allow-private", "--out", tmp_path / "out")
    with Screen(*arguments, width=120, height=40) as screen:
        until(lambda: f"seed {closed}:" in screen.said, "the failure", 20)
        screen.resize(80, 24)
        until(lambda: "\x1b[2J" in screen.said, "an empty terminal", 10)
        drawn = screen.said.rindex("\x1b[2J")
        until(lambda: f"seed {closed}:" in screen.said[drawn:], "what was told", 10)
        until(lambda: "╰" in screen.said[drawn:], "the panel", 10)
        screen.process.send_signal(signal.SIGINT)
        assert screen.process.wait(30) == 130
    screen.said = screen.said[drawn:]
    assert {len(line) for line in panel_lines(screen)} == {80}


def test_the_time_left_is_what_the_slowest_host_takes(tmp_path: Path) -> None:
    """A fast host beside a slow one: by the rate of all, the end would be promised far too soon."""
    fast = "".join(f"<a href=/{number}>page</a>" for number in range(40))
    slow = "".join(f"<a href=/{number}>page</a>" for number in range(30))
    sites = {"//fast.test/": fast, "//slow.test/": slow}

    def text(path: str) -> Answer:
        return Answer(status=404) if path.endswith("/robots.txt") else Answer(f"<p>{prose(path)}")

    with serving(sites, missing=text) as pages:
        file = tmp_path / "said"
        seeds = [f"http://{name}.test:{pages.port}/" for name in ("fast", "slow")]
        gap = ["--set", f'politeness.overrides={{"slow.test:{pages.port}":"300ms"}}']
        options = ["--allow-private", "--delay", "0s", "--set", "politeness.address_delay=0s", *gap]
        options += [*pages.named("fast.test", "slow.test"), "--out", str(tmp_path / "out")]
        promise = re.compile(r"\b2\d queued.*at least (\d+) s left")
        with lines_of(*seeds, *options, file=file) as process:
            until(lambda: promise.search(file.read_text()), "a promise", 30)
            begun = time.monotonic()
            assert process.wait(60) == 0, file.read_text()
            took = time.monotonic() - begun
    found = promise.search(file.read_text())
    assert found is not None
    promised = int(found[1])
    assert promised >= 5
    assert 0.6 * promised <= took <= 1.5 * promised + 3


def test_one_count_in_summary_log_and_files(tmp_path: Path) -> None:
    links = "".join(f"<a href=/{number}>page</a>" for number in range(200))
    pages_ = {"/": links} | {f"/{number}": f"<p>text {number} of its own" for number in range(200)}
    with serving(pages_) as pages:
        url = f"http://127.0.0.1:{pages.port}/"
        done = crawl(url, "--max-pages", "50", "--per-host", "4", out=tmp_path / "out")
    records = []
    for file in (tmp_path / "out/warc").glob("*.warc.gz"):
        with file.open("rb") as stream:
            records += [
                record.rec_headers["WARC-Target-URI"]
                for record in ArchiveIterator(stream)
                if record.rec_type == "response"
            ]
    stored = [one for one in records if not one.endswith("/robots.txt")]
    logged = [line for line in done.log if line["outcome"] == "fetched"]
    assert done.summary["pages"] == len(stored) == len(logged) == 50
    assert done.said.count("50 pages") >= 1
    assert "49 pages" not in done.said.partition("limit reached")[2]


def test_all_that_the_directory_takes_is_counted(tmp_path: Path) -> None:
    noise = {f"/{number}": os.urandom(60_000).hex() for number in range(20)}
    links = "".join(f"<a href={path}>page</a>" for path in noise)
    with serving({"/": links} | noise) as pages:
        done = crawl(f"http://127.0.0.1:{pages.port}/", out=tmp_path / "out")
    files = [file for file in (tmp_path / "out").rglob("*") if file.is_file()]
    used = sum(file.stat().st_blocks * 512 for file in files)
    assert used > 1_000_000
    assert 0.8 * used < done.summary["disk"] < 1.3 * used


def test_an_interrupt_says_what_is_waited_for_and_a_second_one_leaves_it(
    tmp_path: Path, slow: str
) -> None:
    file, out = tmp_path / "said", tmp_path / "out"
    with lines_of(slow, "--allow-private", "--delay", "0s", "--out", out, file=file) as process:
        until(lambda: "1 under way" in file.read_text(), "the slow page", 20)
        process.send_signal(signal.SIGINT)
        words = (
            r"stopping: waiting for 1 visit under way, at most (\d+) s; Ctrl-C again leaves them"
        )
        until(lambda: re.search(words, file.read_text()), "what is waited for", 3)
        process.send_signal(signal.SIGINT)
        assert process.wait(8) == 130
    assert "Stopped; everything is saved." in file.read_text()


def test_a_page_of_scripts_alone_is_a_hint(tmp_path: Path) -> None:
    shell = "<title>App</title><div id=root></div><script src=/app.js></script>"
    with serving({"/": shell}) as pages:
        done = crawl(f"http://127.0.0.1:{pages.port}/", out=tmp_path / "out")
    assert done.summary["script_pages"] == 1
    assert "1 page has no text or links of its own but scripts" in done.said
    assert done.summary["pages"] == 1
