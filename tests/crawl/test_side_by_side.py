"""Several connections to one site, as its owner asks: `--per-host 8 --delay 0s`. The server counts who is inside."""

import http.server
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.audit.crawls import gossamer
from tests.crawl.pages import crawled

LATENCY = 0.05
PAGES = 120


class Counted(http.server.ThreadingHTTPServer):
    """Knows how many requests are open at once, and how many were."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, robots: str) -> None:
        super().__init__(("127.0.0.1", 0), _Slow)
        self.robots = robots
        self.inside = 0
        self.most = 0
        self.pages: list[str] = []
        self.lock = threading.Lock()


class _Slow(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Counted

    def do_GET(self) -> None:
        server = self.server
        with server.lock:
            server.inside += 1
            server.most = max(server.most, server.inside)
            server.pages.append(self.path)
        time.sleep(LATENCY)
        with server.lock:
            server.inside -= 1
        links = "".join(f'<a href="/{n}">x</a>' for n in range(PAGES)) if self.path == "/" else ""
        body = (server.robots if self.path == "/robots.txt" else f"{self.path} {links}").encode()
        kind = "text/plain" if self.path == "/robots.txt" else "text/html"
        head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
        self.wfile.write(head.encode() + body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


@contextmanager
def slow_site(robots: str = "") -> Iterator[Counted]:
    with Counted(robots) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def crawl(server: Counted, out: Path, *options: str) -> list[str]:
    url = f"http://127.0.0.1:{server.server_address[1]}/"
    lines = crawled(url, out, "--per-host", "8", *options)
    assert gossamer("audit", out).returncode == 0
    return [line["url"] for line in lines if line["outcome"] in {"fetched", "duplicate"}]


def test_eight_connections_work_side_by_side(tmp_path: Path) -> None:
    with slow_site() as server:
        pages = crawl(server, tmp_path / "out")
    assert len(pages) == PAGES + 2
    assert 6 <= server.most <= 8


def test_a_site_that_names_a_crawl_delay_has_one_visitor(tmp_path: Path) -> None:
    with slow_site("User-agent: *\nCrawl-delay: 0.2\n") as server:
        crawl(server, tmp_path / "out", "--max-pages", "6")
    assert server.most == 1


def test_who_asks_for_the_response_factor_gets_it(tmp_path: Path) -> None:
    """With 400 times the response time between visits, and eight connections, some 2.5 s lie between two."""
    with slow_site() as server:
        crawl(server, tmp_path / "out", "--max-pages", "3", "--set",
              "politeness.response_factor=400")  # fmt: skip
    assert server.most == 1
