"""A small site, and a node whose policies are functions: the native side of the doors, without the rest."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from warcio.archiveiterator import ArchiveIterator

from gossamer._native import Batch, Node
from gossamer.node.native_settings import to_native
from gossamer.settings import CrawlSettings

Answer = Callable[[Batch], dict[str, list[Any]]]


class Site:
    """Pages by path: a body, or a body and an ETag. Counts requests and those answered with 304."""

    def __init__(self, pages: dict[str, str], etags: bool, address: str) -> None:
        self.pages, self.etags = pages, etags
        self.requests: list[str] = []
        self.not_modified = 0
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                site.requests.append(self.path)
                body = site.pages.get(self.path)
                if body is None:
                    return self._answer(404, b"no such page")
                tag = f'"{hash(body)}"'
                if site.etags and self.headers.get("If-None-Match") == tag:
                    site.not_modified += 1
                    return self._answer(304, b"", tag)
                self._answer(200, body.encode(), tag if site.etags else None)
                return None

            def _answer(self, status: int, body: bytes, tag: str | None = None) -> None:
                self.send_response(status)
                if tag:
                    self.send_header("ETag", tag)
                if status != 304:
                    self.send_header("Content-Type", "text/html; charset=utf-8")
                    self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer((address, 0), Handler)
        self.url = f"http://{address}:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def visits(self, path: str) -> int:
        return self.requests.count(path)

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


@contextmanager
def site(
    pages: dict[str, str], *, etags: bool = True, address: str = "127.0.0.1"
) -> Iterator[Site]:
    one = Site(pages, etags, address)
    try:
        yield one
    finally:
        one.close()


def page(*links: str, text: str = "") -> str:
    anchors = " ".join(f'<a href="{link}">to {link}</a>' for link in links)
    return f"<html lang=en><title>A title</title><p>Some <b>te</b>xt {text}</p>{anchors}</html>"


def settings(doors: dict[str, Any], **changes: Any) -> str:
    crawl = CrawlSettings.model_validate(
        {
            "threads": 1,
            "politeness": {"delay": "0s", "response_factor": 0},
            "fetch": {"allow_private": True},
            "store": {"fsync": "never", "batch_wait": "20ms"},
            "alias": {"enabled": False},
            **changes,
        }
    )
    values = json.loads(to_native(crawl))
    usual = {"rows": 64, "wait": 5_000, "patience": 20_000_000}
    # As `to_native` does for policies that ask for these.
    values["parse"]["anchors"] = values["frontier"]["known"] = True
    values["doors"] = {door: usual | table for door, table in doors.items()}
    return json.dumps(values)


class Policies:
    """A thread for each door; what a function raises is told to the native side."""

    def __init__(self, node: Node, answers: Mapping[str, Answer]) -> None:
        self.doors = node.doors()
        self.wrong: list[str] = []
        self.batches: list[tuple[str, int]] = []
        self.threads = [
            threading.Thread(target=self._serve, args=item, daemon=True) for item in answers.items()
        ]
        for thread in self.threads:
            thread.start()

    def _serve(self, door: str, answer: Answer) -> None:
        while True:
            try:
                batch = self.doors.next(door, 60.0)
            except RuntimeError:
                return
            if batch is None:
                continue
            self.batches.append((door, len(batch)))
            try:
                self.doors.answer(batch.number, answer(batch))
            except ValueError as error:
                self.wrong.append(str(error))
            except ArithmeticError as error:
                self.doors.fail(batch.number, str(error))


class Crawl:
    """A node with policies at its doors."""

    def __init__(
        self, directory: Path, doors: dict[str, Any], answers: Mapping[str, Answer], **changes: Any
    ) -> None:
        self.directory = directory
        directory.mkdir(exist_ok=True)
        self.node = Node(directory, settings(doors, **changes))
        self.policies = Policies(self.node, answers)
        self.progress: dict[str, Any] = {}

    def run(
        self, *seeds: str, until: Callable[[], bool] | None = None, seconds: float = 60.0
    ) -> dict[str, Any]:
        """Steps until the crawl is finished, or what is waited for is so."""
        if seeds:
            assert self.node.add_seeds(list(seeds)) == [None] * len(seeds)
        end = time.monotonic() + seconds
        while True:
            self.progress = json.loads(self.node.step(0.05))
            if until() if until else self.progress["activity"] == "finished":
                return self.progress
            assert time.monotonic() < end, self.progress

    def why(self, url: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.node.why(url))
        return found

    def end_visits(self) -> None:
        """No visit begins any more; those under way come to their end and are not cut off."""
        self.node.stop(now=False)
        self.run(until=lambda: self.progress["in_flight"] == 0)

    def close(self) -> None:
        self.node.close()

    def log(self) -> list[dict[str, Any]]:
        files = sorted((self.directory / "log").iterdir())
        return [json.loads(line) for file in files for line in file.read_text().splitlines()]

    def outcomes(self) -> dict[str, str]:
        """The last outcome of each path."""
        return {"/" + line["url"].split("/", 3)[3]: line["outcome"] for line in self.log()}

    def records(self, kind: str) -> list[tuple[str, Any, bytes]]:
        """URL, headers and block of the records of a type."""
        found = []
        for file in sorted((self.directory / "warc").iterdir()):
            with file.open("rb") as stream:
                for record in ArchiveIterator(stream):
                    if record.rec_type == kind:
                        headers = record.rec_headers
                        url = headers.get_header("WARC-Target-URI")
                        found.append((url, headers, record.content_stream().read()))
        return found
