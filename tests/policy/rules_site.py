"""A small site for rules, and crawls of it: what the server saw, what the files hold."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from warcio.archiveiterator import ArchiveIterator

GOSSAMER = [sys.executable, "-m", "gossamer.cli.main"]

Reply = tuple[int, dict[str, str], bytes]


def page(*links: str) -> Reply:
    """An HTML page with links; a link that begins with < is written as it is."""
    text = "".join(one if one.startswith("<") else f'<a href="{one}">{one}</a>\n' for one in links)
    return 200, {"Content-Type": "text/html"}, f"<p>{links}</p>{text}".encode()


def answer(kind: str, body: bytes, status: int = 200, **headers: str) -> Reply:
    return status, {"Content-Type": kind, **headers}, body


@dataclass
class Request:
    path: str
    headers: dict[str, str]
    began: float
    ended: float = 0.0


@dataclass
class Site:
    """What it answers by path, and every request it had."""

    url: str
    pages: dict[str, Reply]
    seconds: float
    """How long it takes to answer."""
    requests: list[Request] = field(default_factory=list)

    def paths(self) -> list[str]:
        return [one.path for one in self.requests if one.path != "/robots.txt"]


@contextmanager
def serving(pages: dict[str, Reply], seconds: float = 0.0) -> Iterator[Site]:
    site = Site("", pages, seconds)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            seen = Request(self.path, dict(self.headers.items()), time.monotonic())
            site.requests.append(seen)
            time.sleep(site.seconds)
            missing = (404, {"Content-Type": "text/plain"}, b"no such page")
            status, headers, body = site.pages.get(self.path, missing)
            # Counted before the last byte: the crawler may ask again as soon as it has that.
            seen.ended = time.monotonic()
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_arguments: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    site.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield site
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@dataclass
class Crawled:
    """A crawl that ended."""

    out: Path
    code: int
    stdout: str
    stderr: str

    def summary(self) -> dict[str, Any]:
        value: dict[str, Any] = json.loads(self.stdout.splitlines()[-1])
        return value

    def lines(self) -> list[dict[str, Any]]:
        files = sorted(self.out.glob("**/log/*.jsonl"))
        return [json.loads(line) for file in files for line in file.read_text().splitlines()]

    def line(self, url: str) -> dict[str, Any]:
        (found,) = [line for line in self.lines() if line["url"] == url]
        return found

    def records(self, url: str) -> dict[str, tuple[dict[str, str], bytes, bytes]]:
        """By type: WARC fields, HTTP head and body."""
        found = {}
        for file in sorted(self.out.glob("**/warc/*.warc.gz")):
            with file.open("rb") as stream:
                for record in ArchiveIterator(stream):
                    if record.rec_headers.get_header("WARC-Target-URI") == url:
                        body = record.content_stream().read()
                        head = record.http_headers.to_bytes() if record.http_headers else b""
                        found[record.rec_type] = (dict(record.rec_headers.headers), head, body)
        return found


def run(
    *arguments: object, environ: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*GOSSAMER, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=os.environ | (environ or {}),
    )


def crawl(
    start: str,
    out: Path,
    rules: str,
    *options: object,
    environ: dict[str, str] | None = None,
) -> Crawled:
    """Crawls a site with rules, to the end."""
    config = out.with_name(f"{out.name}.toml")
    config.write_text(rules)
    done = run(
        "crawl", start, "--out", out, "--config", config, "--allow-private", "--delay", "0s",
        "--json", "--set", "politeness.response_factor=0", "--set", "fetch.concurrency=1",
        *options, environ=environ,
    )  # fmt: skip
    return Crawled(out, done.returncode, done.stdout, done.stderr)


def why(out: Path, url: str, *options: str) -> dict[str, Any]:
    done = run("why", url, "--out", out, "--json", *options)
    assert done.returncode == 0, done.stderr
    value: dict[str, Any] = json.loads(done.stdout)
    return value
