"""A web server of a few fixed pages, for what the simulated web does not do."""

import http.server
import json
import os
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from tests.crawl.crawling import COMMAND


class Answer(NamedTuple):
    """What is answered, where that is more than an HTML page in UTF-8."""

    body: str | bytes = ""
    headers: Mapping[str, str] = {}
    status: int = 200
    kind: str = "text/html"


def moved(to: str) -> Answer:
    return Answer(status=301, headers={"Location": to})


class Pages(NamedTuple):
    port: int
    asked: list[str]
    """The paths asked for, in order; `//host/path` where the pages are named so."""

    def named(self, *hosts: str) -> list[str]:
        """Options of a crawl that meets these hosts here."""
        answers = json.dumps({host: ["127.0.0.1"] for host in hosts})
        return ["--set", f"dns.answers={answers}"]


@contextmanager
def serving(
    pages: Mapping[str, str | Answer],
    missing: Callable[[str], str | Answer] = lambda _path: Answer(status=404),
    port: int = 0,
) -> Iterator[Pages]:
    """Serves `pages` by path, or by `//host/path`, as HTML; all else is `missing`. PORT stands for the port."""
    asked: list[str] = []
    by_host = any(place.startswith("//") for place in pages)

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            host = self.headers["Host"].partition(":")[0]
            place = f"//{host}{self.path}" if by_host else self.path
            asked.append(place)
            answer = pages[place] if place in pages else missing(place)
            if isinstance(answer, str):
                answer = Answer(answer)
            body = answer.body.encode() if isinstance(answer.body, str) else answer.body
            body = body.replace(b"PORT", str(server.server_port).encode())
            self.send_response(answer.status)
            for name, value in ({"Content-Type": answer.kind} | dict(answer.headers)).items():
                self.send_header(name, value.replace("PORT", str(server.server_port)))
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield Pages(server.server_address[1], asked)
        finally:
            server.shutdown()
            thread.join()


class Done(NamedTuple):
    summary: dict[str, Any]
    said: str
    """The summary for people."""
    log: list[dict[str, Any]]

    def outcomes(self) -> dict[str, str]:
        """The outcome of each URL's last line, by `host/path` without the port."""
        found = {}
        for line in self.log:
            host, _, path = line["url"].partition("//")[2].partition("/")
            found[f"{host.partition(':')[0]}/{path}"] = line["outcome"]
        return found


def crawl(*arguments: str | Path, out: Path, seconds: float = 100, code: int = 0) -> Done:
    """Crawls to the end, which must come by itself; seeds and options as on the command line."""
    usual = ["--allow-private", "--delay", "0s", "--json", "--out", str(out)]
    done = subprocess.run(
        [*COMMAND, *map(str, arguments), *usual],
        check=False,
        capture_output=True,
        text=True,
        timeout=seconds,
        env=os.environ | {"COLUMNS": "200"},
    )
    assert done.returncode == code, done.stderr
    logs = (log.read_text() for log in sorted(out.glob("log/*.jsonl")))
    lines = [json.loads(line) for log in logs for line in log.splitlines()]
    return Done(json.loads(done.stdout.splitlines()[-1]), done.stderr, lines)


def crawled(url: str, out: Path, *options: str, seconds: float = 60) -> list[dict[str, Any]]:
    """Crawls everything that can be reached from `url`; gives the lines of the fetch log."""
    return crawl(url, "--scope", "any", *options, out=out, seconds=seconds).log
