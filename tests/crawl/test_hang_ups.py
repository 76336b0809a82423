"""A server that hangs up on one of its pages: the log has the visits that it saw, however many connections are kept."""

import http.server
import socket
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.crawl.pages import crawl, crawled

PAGES = 100


class Site(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, bad: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.bad = bad
        self.asked: Counter[str] = Counter()
        self.lock = threading.Lock()


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Site

    def do_GET(self) -> None:
        with self.server.lock:
            self.server.asked[self.path] += 1
        if self.path == self.server.bad:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        if self.path == "/robots.txt":
            self.send_response(301)
            self.send_header("Location", "/rules")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        links = [f"/{number}" for number in range(PAGES)] if self.path == "/" else []
        # In the middle: connections are kept by then, and others come after it.
        links[PAGES // 2 : PAGES // 2] = ["/bad"] if links else []
        body = "".join(f'<a href="{link}">x</a>' for link in links) or f"page {self.path}"
        body = "" if self.path == "/rules" else body
        kind = "text/plain" if self.path == "/rules" else "text/html"
        head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
        self.wfile.write((head + body).encode())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


@contextmanager
def site(bad: str) -> Iterator[Site]:
    with Site(bad) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize("connections", ["1", "8"])
def test_a_page_is_asked_for_once_more_than_the_log_says(tmp_path: Path, connections: str) -> None:
    with site("/bad") as server:
        url = f"http://127.0.0.1:{server.server_address[1]}"
        options = ("--per-host", connections, "--set", "politeness.retry_wait=100ms")
        log = crawled(f"{url}/", tmp_path / "out", *options)
    lines = [line["outcome"] for line in log if line["url"] == f"{url}/bad"]
    assert lines == ["disconnected"] * 4
    # A kept connection may have died before: that one request says nothing of the page.
    assert len(lines) <= server.asked["/bad"] <= len(lines) + 1
    good = Counter(line["url"] for line in log if line["outcome"] in {"fetched", "duplicate"})
    assert len(good) == PAGES + 2
    assert max(good.values()) == 1


def test_robots_rules_behind_a_redirect_end_too(tmp_path: Path) -> None:
    """Each redirect leaves a kept connection, on which the server hangs up."""
    with site("/rules") as server:
        url = f"http://127.0.0.1:{server.server_address[1]}"
        options = ("--set", "politeness.retry_wait=100ms")
        log = crawl(f"{url}/", *options, out=tmp_path / "out", seconds=30, code=1).log
    lines = [line["outcome"] for line in log if line["url"] == f"{url}/rules"]
    assert lines == ["disconnected"] * 3
    assert len(lines) <= server.asked["/rules"] <= len(lines) + 1
