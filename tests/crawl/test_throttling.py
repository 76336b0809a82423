"""A site that answers 429 when asked too fast: its `Retry-After` is obeyed, and then it is asked more slowly."""

import email.utils
import http.server
import itertools
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.audit.crawls import gossamer
from tests.crawl.pages import crawled

LIMIT = 0.4
"""Seconds between two requests, at least; sooner ones are refused."""
WAIT = 2
PAGES = 8
ROOM = 5.0
"""Seconds that a busy machine may add to a wait; the fixed waits of before were 30 and 60."""


class Asked(NamedTuple):
    path: str
    came: float
    answered: float
    status: int


class Strict(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(
        self, *, date: bool, refused_first: int, allowed_first: int, together: int, pages: int
    ) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.together = together
        self.refusals = 0
        self.enough = threading.Condition()
        self.date = date
        self.refused_first = refused_first
        self.allowed_first = allowed_first
        self.pages = pages
        self.asked: list[Asked] = []
        self.last = 0.0
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/"

    def too_soon(self, came: float) -> bool:
        with self.lock:
            early = came - self.last < LIMIT and len(self.asked) >= self.allowed_first
            self.last = came
            return early or len(self.asked) < self.refused_first

    def await_others(self) -> None:
        """No request is refused before so many are there: how busy the machine is does not count."""
        with self.enough:
            self.refusals += 1
            self.enough.notify_all()
            self.enough.wait_for(lambda: self.refusals >= self.together, timeout=30)


class _Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Strict

    def do_GET(self) -> None:
        came = time.monotonic()
        refused = self.server.too_soon(came)
        if refused:
            self.server.await_others()
        links = "".join(f'<a href="/{n}">x</a>' for n in range(1, self.server.pages))
        body = b"" if refused or self.path == "/robots.txt" else f"{self.path} {links}".encode()
        lines = [f"HTTP/1.1 {429 if refused else 200} Some"]
        if refused and self.server.date:
            now = time.time()
            lines.append(f"Date: {email.utils.formatdate(now, usegmt=True)}")
            lines.append(f"Retry-After: {email.utils.formatdate(now + WAIT, usegmt=True)}")
        elif refused:
            lines.append(f"Retry-After: {WAIT}")
        lines += ["Content-Type: text/html", f"Content-Length: {len(body)}", "", ""]
        # Before it is sent: nothing that comes afterwards can have been sent without knowing it.
        row = Asked(self.path, came, time.monotonic(), 429 if refused else 200)
        self.server.asked.append(row)
        self.wfile.write("\r\n".join(lines).encode() + body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


@contextmanager
def strict(
    *,
    date: bool = False,
    refused_first: int = 0,
    allowed_first: int = 0,
    together: int = 0,
    pages: int = PAGES,
) -> Iterator[Strict]:
    with Strict(
        date=date,
        refused_first=refused_first,
        allowed_first=allowed_first,
        together=together,
        pages=pages,
    ) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def crawl(server: Strict, out: Path, *options: str) -> set[str]:
    """The pages that were had."""
    lines = crawled(server.url, out, *options)
    audit = gossamer("audit", out)
    assert audit.returncode == 0, audit.stdout
    return {line["url"] for line in lines if line["outcome"] in {"fetched", "duplicate"}}


@pytest.mark.parametrize("date", [False, True], ids=["seconds", "date"])
def test_all_pages_few_refusals_and_none_too_early(tmp_path: Path, *, date: bool) -> None:
    with strict(date=date) as server:
        pages = crawl(server, tmp_path / "out")
    assert len(pages) == PAGES + 1
    refused = [one for one in server.asked if one.status == 429]
    assert 1 <= len(refused) <= 3
    for one, after in pairwise(server.asked):
        if one.status == 429:
            assert WAIT <= after.came - one.answered < WAIT + ROOM
    # Slower than before, and so slow that nothing more is refused.
    assert all(one.status == 200 for one in server.asked[-PAGES + 3 :])


def test_a_robots_file_too(tmp_path: Path) -> None:
    with strict(refused_first=1) as server:
        pages = crawl(server, tmp_path / "out", "--max-pages", "2")
    assert len(pages) == 3
    first, second = server.asked[:2]
    assert (first.path, first.status, second.path) == ("/robots.txt", 429, "/robots.txt")
    assert WAIT <= second.came - first.answered < WAIT + ROOM


def test_eight_connections_refused_at_once_wait_together(tmp_path: Path) -> None:
    """A flood of 429s is one request to slow down; the host is not set aside for an hour."""
    with strict(allowed_first=2, together=6, pages=12) as server:
        pages = crawl(server, tmp_path / "out", "--per-host", "8")
    assert len(pages) == 12 + 1
    refused = [one for one in server.asked if one.status == 429]
    assert 6 <= len(refused) <= 12
    # Robots file, start page, and up to eight that were on their way together; all others knew.
    flood = list(itertools.takewhile(lambda one: one.status == 429, server.asked[2:]))
    assert 6 <= len(flood) <= 8
    later = server.asked[2 + len(flood) :]
    assert min(one.came for one in later) >= max(one.answered for one in flood) + WAIT - 0.05
