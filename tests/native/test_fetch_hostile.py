"""Every misbehaviour ends in the right outcome within its limit, and the fetcher goes on."""

from __future__ import annotations

import gzip
import socket
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

import brotli
import pytest
import zstandard
from tests.native.hostile_server import HostileServer, endless, send, then_reset, then_silence

from gossamer._native import Fetcher

LIMITS = {
    "connect": 20.0,
    "tls": 20.0,
    "first_byte": 20.0,
    "stall": 20.0,
    "total": 60.0,
    "head_bytes": 65536,
    "body_bytes": 200_000,
    "decoded_bytes": 20_000_000,
    "ratio": 200,
}
SHORT = LIMITS | {"first_byte": 3.0, "stall": 2.0, "total": 5.0}
"""For what ends by a limit; everything else must have its time, however busy the machine is."""
MIXED = LIMITS | {"first_byte": 6.0, "stall": 4.0, "total": 12.0}
"""For all at once."""
OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
ZIP = b"HTTP/1.1 200 OK\r\nContent-Type: application/zip\r\n"
PAGE = b"<html>" + b"hello " * 200 + b"</html>"
BOMB = b"\0" * 50_000_000


def page(body: bytes = PAGE, *fields: bytes) -> bytes:
    lines = b"".join(field + b"\r\n" for field in fields)
    return OK + lines + b"Content-Length: %d\r\n\r\n" % len(body) + body


def chunked(body: bytes, *fields: bytes) -> bytes:
    lines = b"".join(field + b"\r\n" for field in fields)
    return OK + lines + b"Transfer-Encoding: chunked\r\n\r\n" + body


def half(data: bytes) -> bytes:
    return data[: len(data) // 2]


@dataclass(frozen=True)
class Case:
    name: str
    handler: object
    outcome: str
    body: bytes | None = None
    truncated: str | None = None


GZIP = b"Content-Encoding: gzip"
# Text that compresses little, so that half of its compressed form is about half of it.
NOISE = b" ".join(b"%x" % (n * 2654435761 % 2**32) for n in range(4000))
CL = b"Content-Length: %d\r\n"
CASES = [
    # What is in order.
    Case("plain", send(page()), "fetched", PAGE),
    Case("until close", send(OK + b"\r\n" + PAGE), "fetched", PAGE),
    Case("chunks", send(chunked(b"5\r\nhello\r\n6;x=y\r\n world\r\n0\r\n\r\n")), "fetched", b"hello world"),
    Case("chunks with trailer", send(chunked(b"5\r\nhello\r\n0\r\nX: y\r\n\r\n")), "fetched", b"hello"),
    Case("chunks in drops", send(*[bytes([b]) for b in chunked(b"2\r\nab\r\n1\r\nc\r\n0\r\n\r\n")]), "fetched", b"abc"),
    Case("interim responses", send(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nLink: x\r\n\r\n" + page()), "fetched", PAGE),
    Case("204", send(b"HTTP/1.1 204 No Content\r\n\r\n"), "fetched", b""),
    Case("304", send(b"HTTP/1.1 304 Not Modified\r\nContent-Length: 999\r\n\r\n"), "not_modified", b""),
    Case("404", send(b"HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\ngone"), "gone", b"gone"),
    Case("410", send(b"HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n"), "gone", b""),
    Case("403", send(b"HTTP/1.1 403 No\r\nContent-Length: 2\r\n\r\nno"), "refused", b"no"),
    Case("429", send(b"HTTP/1.1 429 Slow\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n"), "throttled", b""),
    Case("503", send(b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"), "throttled", b""),
    Case("500", send(b"HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n"), "server_failed", b""),
    Case("999", send(b"HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n"), "server_failed", b""),
    Case("gzip", send(page(gzip.compress(PAGE), GZIP)), "fetched", PAGE),
    Case("deflate", send(page(zlib.compress(PAGE), b"Content-Encoding: deflate")), "fetched", PAGE),
    Case("raw deflate", send(page(zlib.compress(PAGE)[2:-4], b"Content-Encoding: deflate")), "fetched", PAGE),
    Case("br", send(page(brotli.compress(PAGE), b"Content-Encoding: br")), "fetched", PAGE),
    Case("zstd", send(page(zstandard.compress(PAGE), b"Content-Encoding: zstd")), "fetched", PAGE),
    Case("stacked", send(page(gzip.compress(brotli.compress(PAGE)), b"Content-Encoding: br, gzip")), "fetched", PAGE),
    # What is wrong but clear.
    Case("bare line feeds", send(b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok"), "fetched", b"ok"),
    Case("no reason", send(b"HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok"), "fetched", b"ok"),
    Case("folded field", send(b"HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length:\r\n 2\r\n\r\nok"), "fetched", b"ok"),
    Case("odd bytes in a field", send(b"HTTP/1.1 200 OK\r\nX-\xff: \x80\x01\r\nContent-Length: 2\r\n\r\nok"), "fetched", b"ok"),
    Case("same length twice", send(OK + CL % 2 + CL % 2 + b"\r\nok"), "fetched", b"ok"),
    Case("length and chunks", send(chunked(b"5\r\nhello\r\n0\r\n\r\n", b"Content-Length: 3")), "fetched", b"hello"),
    Case("chunked twice", send(chunked(b"2\r\nok\r\n0\r\n\r\n", b"Transfer-Encoding: chunked")), "fetched", b"ok"),
    Case("last chunk, then the end", send(chunked(b"5\r\nhello\r\n0\r\n")), "fetched", b"hello"),
    Case("more than the length", send(page(b"ok") + b"surplus"), "fetched", b"ok"),
    Case("unknown coding", send(page(b"ok", b"Content-Encoding: utf-8")), "fetched", b"ok"),
    Case("gzip of nothing", send(page(b"", GZIP)), "fetched", b""),
    # What is cut short: kept and marked.
    Case("less than the length", send(OK + CL % 100 + b"\r\nhalf"), "truncated", b"half", "disconnect"),
    Case("chunk cut", send(chunked(b"a\r\nhalf")), "truncated", b"half", "disconnect"),
    Case("chunks without an end", send(chunked(b"4\r\nhalf\r\n")), "truncated", b"half", "disconnect"),
    Case("endless body", endless(OK + b"\r\n", b"x" * 10_000), "truncated", b"x" * 200_000, "length"),
    Case("endless chunks", endless(chunked(b""), b"4\r\nabcd\r\n" * 999), "truncated", b"abcd" * 50_000, "length"),
    Case("endless one-byte chunks", endless(chunked(b""), b"1\r\nx\r\n" * 999), "truncated", b"x" * 200_000, "length"),
    Case("one huge chunk", endless(chunked(b"fffffffffffffff\r\n"), b"x" * 10_000), "truncated", b"x" * 200_000, "length"),
    Case("dripping body", endless(OK + b"\r\n", b"x", 0.3), "truncated", None, "time"),
    Case("stalled body", then_silence(OK + CL % 100 + b"\r\nhalf"), "truncated", b"half", "time"),
    Case("reset in the body", then_reset(OK + CL % 100 + b"\r\nhalf"), "truncated", b"half", "disconnect"),
    Case("reset in a body until close", then_reset(OK + b"\r\nhalf"), "truncated", b"half", "disconnect"),
    Case("gzip cut", send(page(half(gzip.compress(NOISE, mtime=0)), GZIP)), "truncated", None, "decoded"),
    Case("gzip with a wrong sum", send(page(gzip.compress(PAGE)[:-8] + b"\0" * 8, GZIP)), "truncated", PAGE, "decoded"),
    # What is too large, judged before it is read.
    Case("declared too large", then_silence(ZIP + CL % 200_001 + b"\r\n"), "too_large", b""),
    Case("declared beyond any number", then_silence(ZIP + b"Content-Length: 99999999999999999999999\r\n\r\n"), "too_large", b""),
    Case("a page declared too large", endless(OK + CL % 50_000_000 + b"\r\n", b"x" * 10_000), "truncated", b"x" * 200_000, "length"),
    Case("no type, declared too large", endless(b"HTTP/1.1 200 OK\r\n" + CL % 50_000_000 + b"\r\n", b"x" * 10_000), "truncated", b"x" * 200_000, "length"),
    # What is broken.
    Case("two lengths", send(OK + CL % 2 + CL % 3 + b"\r\nok!"), "protocol_broken", b""),
    Case("negative length", send(OK + b"Content-Length: -1\r\n\r\nok"), "protocol_broken", b""),
    Case("length in words", send(OK + b"Content-Length: two\r\n\r\nok"), "protocol_broken", b""),
    Case("chunk size no number", send(chunked(b"xyz\r\nhello\r\n0\r\n\r\n")), "protocol_broken", b"", "unspecified"),
    Case("chunk longer than its size", send(chunked(b"2\r\nhello\r\n0\r\n\r\n")), "protocol_broken", b"he", "unspecified"),
    Case("chunk size overflow", send(chunked(b"fffffffffffffffffff\r\nhello")), "protocol_broken", b""),
    Case("endless chunk extension", endless(chunked(b"5;"), b"x" * 1000), "protocol_broken", b""),
    Case("endless trailer", endless(chunked(b"0\r\n"), b"X: y\r\n" * 99), "protocol_broken"),
    Case("chunked is not last", send(chunked(b"0\r\n\r\n", b"Transfer-Encoding: chunked, gzip")), "protocol_broken"),
    Case("HTTP/0.9", send(b"<html>hello</html>"), "protocol_broken", b""),
    Case("endless HTTP/0.9", endless(b"<html>", b"x" * 1000), "protocol_broken", b""),
    Case("another protocol", send(b"SSH-2.0-OpenSSH_9.9\r\n"), "protocol_broken", b""),
    Case("noise", send(bytes(range(256)) * 10), "protocol_broken", b""),
    Case("endless headers", endless(OK, b"X-Header: y\r\n" * 50), "protocol_broken", b""),
    Case("one endless header", endless(OK + b"X: ", b"y" * 1000), "protocol_broken", b""),
    Case("many headers", send(OK + b"a: b\r\n" * 1000 + b"\r\n"), "protocol_broken", b""),
    Case("endless interim", endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n"), "protocol_broken", b""),
    Case("switching protocols", send(b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n"), "protocol_broken", b""),
    Case("NUL in the head", send(b"HTTP/1.1 200 OK\r\nX: \0\r\n\r\n"), "protocol_broken", b""),
    Case("redirect to nowhere", send(b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n"), "protocol_broken"),
    Case("no gzip at all", send(page(PAGE, GZIP)), "encoding_broken", b""),
    Case("gzip bomb", send(page(gzip.compress(BOMB), GZIP)), "encoding_broken", b""),
    Case("nested gzip bomb", send(page(gzip.compress(gzip.compress(BOMB)), b"Content-Encoding: gzip, gzip")), "encoding_broken", b""),
    Case("br bomb", send(page(brotli.compress(BOMB), b"Content-Encoding: br")), "encoding_broken", b""),
    Case("zstd bomb", send(page(zstandard.compress(BOMB), b"Content-Encoding: zstd")), "encoding_broken", b""),
    Case("four codings", send(page(PAGE, b"Content-Encoding: gzip, gzip, gzip, gzip")), "encoding_broken", b""),
    # What does not come.
    Case("closed at once", send(b""), "disconnected", b""),
    Case("closed in the status line", send(b"HTTP/1."), "disconnected", b""),
    Case("closed in the head", send(OK), "disconnected", b""),
    Case("closed before the body", send(OK + CL % 9 + b"\r\n"), "disconnected", b"", "disconnect"),
    Case("reset at once", then_reset(), "disconnected", b""),
    Case("reset in the head", then_reset(OK), "disconnected", b""),
    Case("reset before the body", then_reset(OK + CL % 9 + b"\r\n"), "disconnected", b"", "disconnect"),
    Case("silence", then_silence(), "timed_out", b""),
    Case("silence in the head", then_silence(OK), "timed_out", b""),
    Case("silence before the body", then_silence(OK + CL % 9 + b"\r\n"), "timed_out", b"", "time"),
    Case("dripping head", endless(OK + b"X: ", b"x", 0.3), "timed_out", b""),
]  # fmt: skip


@pytest.fixture(scope="module")
def server() -> Iterator[HostileServer]:
    routes = {f"/{number}": case.handler for number, case in enumerate(CASES)}
    with HostileServer(routes) as running:  # type: ignore[arg-type]
        yield running


def with_limits(limits: dict[str, float]) -> Fetcher:
    return Fetcher({"allow_private": True, "limits": limits, "idle_per_host": 4})


@pytest.fixture(scope="module")
def fetcher() -> Fetcher:
    return with_limits(LIMITS)


@pytest.fixture(scope="module")
def hasty() -> Fetcher:
    return with_limits(SHORT)


@pytest.mark.parametrize("number", range(len(CASES)), ids=[case.name for case in CASES])
def test_each_case_ends_in_its_outcome(
    server: HostileServer, fetcher: Fetcher, hasty: Fetcher, number: int
) -> None:
    case = CASES[number]
    by_limit = case.outcome == "timed_out" or case.truncated == "time"
    began = time.monotonic()
    [response] = (hasty if by_limit else fetcher).fetch([server.url(f"/{number}")])
    took = time.monotonic() - began
    assert response.outcome == case.outcome, response
    # Those that no limit of time ends do not wait for one.
    assert took < SHORT["total"] + 1.0, "answered after its limit"
    if case.body is not None:
        assert response.body == case.body
    assert response.truncated == case.truncated or case.truncated is None
    if case.outcome == "fetched":
        assert response.truncated is None
    if case.truncated == "time" and case.body is None:
        assert response.body
    assert len(response.detail) < 300


def test_all_at_once_and_the_fetcher_goes_on(server: HostileServer) -> None:
    fetcher = with_limits(MIXED)
    order = [n for n in range(len(CASES)) for _ in range(2)]
    began = time.monotonic()
    responses = fetcher.fetch([server.url(f"/{n}") for n in order], concurrency=len(order))
    assert time.monotonic() - began < 20
    for number, response in zip(order, responses, strict=True):
        assert response.outcome == CASES[number].outcome, (CASES[number].name, response)
    [after] = fetcher.fetch([server.url("/0")])
    assert (after.outcome, after.body) == ("fetched", PAGE)


def test_partial_gzip_gives_its_beginning(server: HostileServer, fetcher: Fetcher) -> None:
    number = next(n for n, case in enumerate(CASES) if case.name == "gzip cut")
    [response] = fetcher.fetch([server.url(f"/{number}")])
    assert len(response.body) > len(NOISE) // 4
    assert NOISE.startswith(response.body)
    assert response.wire_body == half(gzip.compress(NOISE, mtime=0))


def test_decoded_size_limit_keeps_what_fits() -> None:
    text = NOISE * 20
    with HostileServer(default=send(page(gzip.compress(text), GZIP))) as server:
        limits = LIMITS | {"decoded_bytes": 100_000, "body_bytes": 10_000_000}
        [response] = Fetcher({"allow_private": True, "limits": limits}).fetch([server.url()])
    assert (response.outcome, response.truncated) == ("truncated", "decoded")
    assert response.body == text[:100_000]


@pytest.mark.parametrize("size", [10, 2000, 60_000])
def test_redirect_targets_come_raw(size: int) -> None:
    target = "http://example.org/" + "a" * size
    answer = b"HTTP/1.1 301 Moved\r\nLocation: %s\r\n\r\n" % target.encode()
    with HostileServer(default=send(answer)) as server:
        fetcher = Fetcher({"allow_private": True, "limits": LIMITS})
        [response] = fetcher.fetch([server.url()])
    assert (response.outcome, response.status) == ("redirected", 301)
    assert response.location == target


def test_a_redirect_target_beyond_the_head_limit_is_refused() -> None:
    with HostileServer(
        default=endless(b"HTTP/1.1 301 M\r\nLocation: http://", b"a" * 999)
    ) as server:
        fetcher = Fetcher({"allow_private": True, "limits": LIMITS})
        [response] = fetcher.fetch([server.url()])
    assert response.outcome == "protocol_broken"


def test_a_redirect_stays_one_when_its_body_never_ends() -> None:
    head = b"HTTP/1.1 302 Found\r\nLocation: /next\r\n\r\n"
    with HostileServer(default=endless(head, b"x" * 1000)) as server:
        fetcher = Fetcher({"allow_private": True, "limits": LIMITS})
        [response] = fetcher.fetch([server.url()])
    assert (response.outcome, response.location, response.truncated) == (
        "redirected",
        "/next",
        "length",
    )


def test_unwanted_types_are_not_read_but_robots_files_are() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 4\r\n\r\n"
    silent = then_silence(head, seconds=90)
    with HostileServer({"/slow": silent}, default=send(head + b"data")) as server:
        fetcher = Fetcher({"allow_private": True, "limits": LIMITS, "accept_types": ["text/*"]})
        began = time.monotonic()
        [page_, robots] = fetcher.fetch(
            [server.url("/slow"), {"url": server.url("/robots.txt"), "purpose": "robots"}]
        )
        assert time.monotonic() - began < LIMITS["stall"] / 2, "the body was waited for"
    assert (page_.outcome, page_.body) == ("unwanted_type", b"")
    assert (robots.outcome, robots.body) == ("fetched", b"data")


def test_nobody_listens(fetcher: Fetcher) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        [response] = fetcher.fetch([f"http://127.0.0.1:{taken.getsockname()[1]}/"])
    assert response.outcome == "connect_failed"


def test_conditional_requests_carry_the_validators_and_nothing_smuggled() -> None:
    with HostileServer(default=send(b"HTTP/1.1 304 Not Modified\r\n\r\n")) as server:
        fetcher = Fetcher({"allow_private": True, "limits": LIMITS, "contact": "me@example.org"})
        good = {
            "url": server.url(),
            "etag": '"x"',
            "last_modified": "Sun, 06 Nov 1994 08:49:37 GMT",
        }
        bad = {"url": server.url(), "etag": '"x"\r\nEvil: yes'}
        assert [r.outcome for r in fetcher.fetch([good], concurrency=1)] == ["not_modified"]
        assert [r.outcome for r in fetcher.fetch([bad], concurrency=1)] == ["not_modified"]
    first, second = server.requests
    assert b'If-None-Match: "x"\r\nIf-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n' in first
    assert b"From: me@example.org\r\n" in first
    assert b"Evil" not in second


def test_retry_after_is_read_and_bounded() -> None:
    answers = {
        "/1": b"Retry-After: 120",
        "/2": b"Retry-After: 999999999999999999999999",
        "/3": b"Date: Sun, 06 Nov 1994 08:49:37 GMT\r\nRetry-After: Sun, 06 Nov 1994 08:50:37 GMT",
        "/4": b"Retry-After: tomorrow",
    }
    routes = {
        path: send(b"HTTP/1.1 503 Busy\r\n" + field + b"\r\n\r\n")
        for path, field in answers.items()
    }
    with HostileServer(routes) as server:
        fetcher = Fetcher({"allow_private": True, "limits": LIMITS})
        waits = [r.retry_after for r in fetcher.fetch([server.url(path) for path in answers])]
    assert waits == [120.0, 7 * 24 * 3600.0, 60.0, None]


def test_ipv6_and_all_addresses_of_a_name() -> None:
    with HostileServer(default=send(page(b"six")), host="::1") as server:
        fixed = {"two.example": ["127.0.0.1", "::1"]}
        fetcher = Fetcher({"allow_private": True, "limits": LIMITS, "dns": {"fixed": fixed}})
        literal, named = fetcher.fetch([server.url(host="[::1]"), server.url(host="two.example")])
    assert (literal.body, literal.ip) == (b"six", "::1")
    assert (named.body, named.ip) == (b"six", "::1")
