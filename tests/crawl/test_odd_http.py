"""Answers of real servers that follow no book, over raw sockets: each is a page or ends with an outcome."""

import gzip
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.audit.crawls import gossamer
from tests.crawl.pages import crawled
from tests.native.hostile_server import Handler, HostileServer, endless, send, then_silence

OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
BODY = b"<title>t</title><p>" + b"words of a page " * 20 + b"</p>"
CHUNKS = b"%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY)
LENGTH = b"Content-Length: %d\r\n"


def sized(size: int, *fields: bytes, body: bytes = BODY) -> bytes:
    return OK + b"".join(field + b"\r\n" for field in fields) + LENGTH % size + b"\r\n" + body


def links(*paths: str) -> bytes:
    return b"".join(b'<a href="%s">x</a>' % path.encode() for path in paths)


CASES: dict[str, tuple[Handler, str]] = {
    "folded": (send(OK + b"Transfer-Encoding:\r\n chunked\r\n\r\n" + CHUNKS), "fetched"),
    "folded-twice": (
        send(OK + b"Transfer-Encoding:\r\n\t\r\n  chunked\r\nX: y\r\n\r\n" + CHUNKS), "fetched",
    ),
    "folded-list": (
        send(
            OK + b"Transfer-Encoding: gzip,\r\n chunked\r\n\r\n"
            + b"%x\r\n%s\r\n0\r\n\r\n" % (len(gzip.compress(BODY, mtime=0)), gzip.compress(BODY, mtime=0))
        ),
        "fetched",
    ),
    "http-1.0": (send(b"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n" + BODY), "fetched"),
    "http-1.0-keeps-alive": (
        send(b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Type: text/html\r\n\r\n" + BODY),
        "fetched",
    ),
    "http-1.0-chunked": (
        send(b"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n" + CHUNKS),
        "fetched",
    ),
    "says-close-and-stays": (then_silence(sized(len(BODY), b"Connection: close")), "fetched"),
    "says-keep-alive-and-closes": (send(sized(len(BODY), b"Connection: keep-alive")), "fetched"),
    "says-both": (send(sized(len(BODY), b"Connection: keep-alive, close")), "fetched"),
    "extensions-and-trailers": (
        send(
            OK + b"Transfer-Encoding: chunked\r\nTrailer: X\r\n\r\n"
            + b'%x;a="b;c";d\r\n%s\r\n0;last\r\nX: y\r\nZ: w\r\n\r\n' % (len(BODY), BODY)
        ),
        "fetched",
    ),
    "length-too-long": (send(sized(len(BODY) + 99)), "truncated"),
    "length-too-short": (send(sized(len(BODY) - 9)), "fetched"),
    "length-too-long-gzip": (
        send(sized(999_999, b"Content-Encoding: gzip", body=gzip.compress(BODY, mtime=0))), "truncated",
    ),
    "chunks-without-an-end": (
        send(OK + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n" % (len(BODY), BODY)), "truncated",
    ),
}  # fmt: skip


@pytest.fixture
def server() -> Iterator[HostileServer]:
    routes: dict[str, Handler] = {f"/{name}": handler for name, (handler, _) in CASES.items()}
    start = links(*routes)
    routes["/"] = send(sized(len(start), body=start))
    with HostileServer(routes) as running:
        yield running


def test_each_is_a_page_or_ends_with_its_outcome(server: HostileServer, tmp_path: Path) -> None:
    lines = crawled(
        server.url("/"), tmp_path / "out", "--set", "politeness.retry_wait=20ms", seconds=100
    )
    last = {line["url"].rsplit("/", 1)[1]: line["outcome"] for line in lines}
    # All bodies are the same, byte for byte: so those after the first one are its copies.
    last |= dict.fromkeys((name for name, of in last.items() if of == "duplicate"), "fetched")
    assert {name: last.get(name) for name in CASES} == {
        name: outcome for name, (_, outcome) in CASES.items()
    }
    copies = [line["url"] for line in lines if line["outcome"] == "duplicate"]
    assert len(copies) == sum(of == "fetched" for _, of in CASES.values()) - 2
    # A wrong length is no reason to come again.
    assert [line["url"] for line in lines].count(server.url("/length-too-long")) == 1
    audit = gossamer("audit", tmp_path / "out")
    assert audit.returncode == 0, audit.stdout


def test_pages_that_are_always_refused_end_and_take_no_others_with_them(tmp_path: Path) -> None:
    good = [f"/{n}" for n in range(6)]
    bad: dict[str, Handler] = {
        "/always-503": send(b"HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n"),
        "/always-429": send(b"HTTP/1.1 429 No\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n"),
    }
    start = links(*bad, *good)
    routes = {**bad, **{path: send(sized(3, body=path[1:].encode() * 3)) for path in good}}
    routes["/"] = send(sized(len(start), body=start))
    with HostileServer(routes) as server:
        # Only refusals are left in the end: then the host is soon given up.
        lines = crawled(
            server.url("/"), tmp_path / "out", "--set", "politeness.retry_wait=20ms",
            "--set", "politeness.set_aside_after=3", "--set", "politeness.set_aside_for=100ms",
            "--set", "politeness.set_aside_times=1", seconds=100,
        )  # fmt: skip
    last = {line["url"].removeprefix(server.url("")): line["outcome"] for line in lines}
    assert {last[path] for path in good} == {"fetched"}
    assert {last[path] for path in bad} == {"throttled"}


def test_a_server_that_lies_about_its_connections_is_not_blamed(tmp_path: Path) -> None:
    """It says keep-alive, and hangs up on the second request of a connection, unread."""
    seen: list[str] = []

    def twice(connection: socket.socket) -> None:
        text = connection.recv(65536).decode()
        path = text.split(" ")[1]
        seen.append(path)
        body = links(*(f"/{n}" for n in range(9))) if path == "/" else path.encode()
        kind = b"text/plain" if path == "/robots.txt" else b"text/html"
        head = b"HTTP/1.1 200 OK\r\nContent-Type: " + kind + b"\r\nConnection: keep-alive\r\n"
        connection.sendall(head + LENGTH % len(body) + b"\r\n" + body)
        connection.recv(65536)

    with HostileServer(on_connect=twice) as server:
        lines = crawled(server.url("/"), tmp_path / "out", seconds=50)
    outcomes = {line["outcome"] for line in lines}
    assert outcomes == {"fetched"}
    assert len(seen) == 11


def test_a_page_declared_beyond_the_limit_is_cut_and_used(tmp_path: Path) -> None:
    huge = 50_000_000
    start = links("/archive", "/next")
    page_head = OK + LENGTH % huge + b"\r\n" + start
    archive = b"HTTP/1.1 200 OK\r\nContent-Type: application/zip\r\n" + LENGTH % huge + b"\r\n"
    routes: dict[str, Handler] = {
        "/": endless(page_head, b"<p>words " * 100),
        "/archive": then_silence(archive),
        "/next": send(sized(len(BODY))),
    }
    with HostileServer(routes) as server:
        lines = crawled(
            server.url("/"),
            tmp_path / "out",
            "--set",
            "fetch.max_body=100kB",
            "--set",
            "fetch.types=[]",
        )
    outcomes = {line["url"].rsplit("/", 1)[1]: line["outcome"] for line in lines}
    assert outcomes == {
        "": "truncated", "archive": "too_large", "next": "fetched", "robots.txt": "gone"
    }  # fmt: skip
    [cut] = [line for line in lines if line["outcome"] == "truncated"]
    assert cut["bytes"] == 100_000
    audit = gossamer("audit", tmp_path / "out")
    assert audit.returncode == 0, audit.stdout
