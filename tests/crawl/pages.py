"""A web server of a few fixed pages, for what the simulated web does not do."""

import http.server
import json
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from tests.crawl.crawling import COMMAND


class Pages(NamedTuple):
    port: int
    asked: list[str]
    """The paths asked for, in order."""


@contextmanager
def serving(pages: Mapping[str, str]) -> Iterator[Pages]:
    """Serves `pages` by path as HTML; every other path is a 404."""
    asked: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            asked.append(self.path)
            body = pages.get(self.path, "").encode()
            self.send_response(200 if self.path in pages else 404)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield Pages(server.server_address[1], asked)
        finally:
            server.shutdown()
            thread.join()


def crawled(url: str, out: Path, *options: str, seconds: float = 60) -> list[dict[str, Any]]:
    """Crawls from `url` to the end, which must come by itself; gives the lines of the fetch log."""
    usual = ["--allow-private", "--scope", "any", "--delay", "0s", "--json", "--out", str(out)]
    done = subprocess.run(
        [*COMMAND, url, *usual, *options],
        check=False,
        capture_output=True,
        text=True,
        timeout=seconds,
    )
    assert done.returncode == 0, done.stderr
    logs = (log.read_text() for log in sorted(out.glob("log/*.jsonl")))
    return [json.loads(line) for log in logs for line in log.splitlines()]
