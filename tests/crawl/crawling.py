"""Crawls as real processes on the simulated web, and what their files hold, read by others' code."""

import contextlib
import itertools
import json
import os
import pty
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from warcio.archiveiterator import ArchiveIterator

from gossamer.simweb import SimWeb, truth

COMMAND = [sys.executable, "-m", "gossamer.cli.main", "crawl"]
WARCIO = str(Path(sys.executable).with_name("warcio"))
MANY_COMMITS = ["--set", "store.batch_pages=16", "--set", "store.batch_wait=5ms"]


def until(condition: Callable[[], object], what: str, seconds: float = 30.0) -> None:
    """Waits for a condition, not for a time."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"waited {seconds} s in vain: {what}"
        time.sleep(0.0005)


def expected(web: SimWeb) -> set[str]:
    """The URLs that a polite crawler must have at the end."""
    rows = truth(web.options).rows()
    return {row.url for row in rows if row.allowed and row.depth is not None and row.fetchable}


class Crawl:
    """A crawl directory and the processes that work on it, one after the other."""

    def __init__(self, web: SimWeb, out: Path, *options: str, environ: dict[str, str]) -> None:
        self.web = web
        self.out = out
        self.options = options
        self.environ = environ
        self.messages = out.with_name(f"{out.name}.stderr")
        self.answer = out.with_name(f"{out.name}.stdout")

    def start(self, *options: str, resume: bool = False) -> subprocess.Popen[bytes]:
        first = ["--resume"] if resume else [self.web.url, *self.options]
        with self.messages.open("wb") as errors, self.answer.open("wb") as answer:
            return subprocess.Popen(
                [*COMMAND, *first, "--out", str(self.out), "--json", *options],
                stdin=subprocess.DEVNULL,
                stdout=answer,
                stderr=errors,
                env=os.environ | self.environ,
            )

    def run(self, *options: str, resume: bool = False, seconds: float = 100.0) -> int:
        """To the end; gives the exit code."""
        process = self.start(*options, resume=resume)
        with ended(process):
            return process.wait(seconds)

    def run_on_a_terminal(self, seconds: float = 100.0) -> tuple[int, str]:
        """To the end, with standard error on a wide terminal; gives the exit code and what it showed."""
        ours, theirs = pty.openpty()
        with self.answer.open("wb") as answer:
            process = subprocess.Popen(
                [*COMMAND, self.web.url, *self.options, "--out", str(self.out), "--json"],
                stdin=subprocess.DEVNULL,
                stdout=answer,
                stderr=theirs,
                env=os.environ | self.environ | {"TERM": "xterm", "COLUMNS": "250", "LINES": "50"},
            )
        os.close(theirs)
        said = b""
        with ended(process), os.fdopen(ours, "rb", buffering=0) as terminal:
            # The end of all who hold the other side is an error here.
            with contextlib.suppress(OSError):
                while more := terminal.read(65536):
                    said += more
            code = process.wait(seconds)
        return code, said.decode()

    def resume(self, *options: str) -> None:
        """To the end, which must be a good one."""
        code = self.run(*options, resume=True)
        assert code == 0, self.said()

    def kill(self, process: subprocess.Popen[bytes], requests: int) -> bool:
        """Kills with -9 when the web has answered so many more requests; False: it ended before."""
        begun = self.web.requests()
        with ended(process):
            until(
                lambda: process.poll() is not None or self.web.requests() >= begun + requests,
                "requests",
                60,
            )
            process.send_signal(signal.SIGKILL)
            return process.wait(30) == -signal.SIGKILL

    def said(self) -> str:
        return self.messages.read_text()

    def summary(self) -> dict[str, object]:
        """The object that the last process printed last."""
        lines = self.answer.read_text().splitlines()
        value = json.loads(lines[-1])
        assert isinstance(value, dict)
        return value

    def warcs(self, pattern: str = "*.warc.gz") -> list[Path]:
        return sorted((self.out / "warc").glob(pattern))

    def stored(self) -> Counter[str]:
        """How often each page is in the finished WARC files."""
        found: Counter[str] = Counter()
        for file in self.warcs():
            with file.open("rb") as stream:
                for record in ArchiveIterator(stream):
                    if record.rec_type in {"response", "revisit"}:
                        found[record.rec_headers.get_header("WARC-Target-URI")] += 1
        return found

    def logged(self) -> list[dict[str, object]]:
        files = sorted((self.out / "log").glob("*.jsonl"))
        return [json.loads(line) for file in files for line in file.read_text().splitlines()]

    def check_complete(self) -> None:
        """Each page exactly once, in whole files, in agreement with the log and the summary."""
        wanted = expected(self.web)
        assert not self.warcs("*.open")
        stored = self.stored()
        robots = {url for url in stored if url.endswith("/robots.txt")}
        assert set(stored) - robots == wanted
        assert {url: times for url, times in stored.items() if times != 1} == {}
        check = subprocess.run(
            [WARCIO, "check", *map(str, self.warcs())], capture_output=True, text=True, check=False
        )
        assert (check.returncode, check.stdout) == (0, "")
        logged = Counter(
            line["url"] for line in self.logged() if line["outcome"] in {"fetched", "duplicate"}
        )
        assert logged == Counter(wanted)
        assert self.summary()["pages"] == len(wanted)
        assert self.summary()["urls_queued"] == 0

    def hashes(self) -> dict[str, bytes]:
        """Every file's content; the locks have none."""
        files = (path for path in self.out.rglob("*") if path.is_file())
        return {str(path.relative_to(self.out)): path.read_bytes() for path in files}


@contextlib.contextmanager
def ended(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """No process outlives its test."""
    try:
        yield
    finally:
        if process.poll() is None:
            process.kill()
            process.wait(30)


def gaps(log: Path) -> list[tuple[float, float, str]]:
    """Seconds between requests to one host, when the later one was, and where: the server's own log."""
    times: dict[str, list[int]] = {}
    for line in log.read_text().splitlines():
        moment, _connection, host, _path, _status = line.split(" ")
        times.setdefault(host, []).append(int(moment))
    return [
        ((later - earlier) / 1e6, later / 1e6, f"{host} at {later}")
        for host, moments in times.items()
        for earlier, later in itertools.pairwise(sorted(moments))
    ]


def shortest_gap(log: Path) -> tuple[float, str]:
    gap, _later, where = min(gaps(log))
    return gap, where
