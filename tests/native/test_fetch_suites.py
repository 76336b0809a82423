"""The fetcher against test data that others wrote. What is counted here is stated in
`docs/reference/conformance-http.md`."""

from __future__ import annotations

import base64
import gzip
import http.client
import io
import json
import time
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import brotli
import pytest
import zstandard
from tests.native.hostile_server import HostileServer, send

from gossamer._native import Fetcher, FetchResponse, forbidden_address, outcome_names

SUITES = Path(__file__).resolve().parents[3] / "shared" / "suites"
LIMITS = {"connect": 30.0, "first_byte": 30.0, "stall": 30.0, "total": 60.0}

# What curl refuses and we read, each on purpose. The reasons are in the conformance page.
LENIENT = {
    129: "HTTP/1.2 is a later minor version of the same protocol",
    398: "a header line without a colon is passed over",
    580: "two Location fields: the first counts",
    772: "two Location fields on a page mean nothing",
    1563: "where a redirect leads is judged when its target comes round the ring",
    2105: "a stray CR in a field value is a blank",
    2106: "trailer fields are not kept, so what is in them does not matter",
    2119: "a transfer coding that nobody knows: the body ends with the connection",
}
# Where the standard library reads something else than we do, though both find a page.
OTHERWISE = {
    319: "a transfer coding that nobody knows: the length beside it does not count (RFC 9112)",
    341: "it stops at a bare line feed between chunks",
    693: "the same",
    1116: "the same",
    1417: "the same",
    1124: "it does not know gzip as a transfer coding",
    1482: "it does not know chunked said twice",
    1493: "it does not know identity as a transfer coding",
    3034: "the head never ends; it takes the end of the connection for the end of the head",
}
# Exit codes of curl that speak of the response itself, not of its command line.
FAULTS = {1, 8, 18, 52, 56, 61}


def suite(*parts: str) -> Path:
    path = SUITES.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"conformance data {'/'.join(parts)} is not here")
    return path


@cache
def curl_exchanges() -> tuple[list[tuple[dict[str, Any], bytes]], list[FetchResponse], float]:
    """Every reply of every case, what became of it, and how long the slowest took."""
    cases = json.loads(suite("http-curl-testdata", "http_get_cases.json").read_text())
    replies = [(c, base64.b64decode(r["raw_b64"])) for c in cases for r in c["replies"]]
    routes = {f"/{n}": send(raw) for n, (_, raw) in enumerate(replies)}
    with HostileServer(routes) as server:
        fetcher = Fetcher({"allow_private": True, "limits": LIMITS, "idle_per_host": 0})
        urls = [server.url(f"/{n}") for n in range(len(replies))]
        began = time.monotonic()
        responses = fetcher.fetch(urls, concurrency=16)
        took = time.monotonic() - began
    return replies, responses, took


def test_curl_every_exchange_ends_in_a_page_or_an_outcome() -> None:
    replies, responses, took = curl_exchanges()
    assert len({case["id"] for case, _ in replies}) == 452
    known = set(outcome_names())
    for (case, _), response in zip(replies, responses, strict=True):
        assert response.outcome in known
        assert response.outcome not in {"timed_out", "connect_failed", "url_refused"}, case["id"]
    assert took < 60


def test_curl_what_is_refused_there_is_no_page_here() -> None:
    replies, responses, _ = curl_exchanges()
    first: dict[int, tuple[dict[str, Any], FetchResponse]] = {}
    for (case, raw), response in zip(replies, responses, strict=True):
        if raw and case["curl_exit"] in FAULTS:
            first.setdefault(case["id"], (case, response))
    read = {
        number: case["name"]
        for number, (case, response) in first.items()
        if response.outcome in {"fetched", "redirected"} and response.truncated is None
    }
    assert set(read) == set(LENIENT), read
    assert len(first) == 41


def http_client(raw: bytes) -> tuple[int, bytes] | None:
    """What the standard library reads in it: an independent reader."""

    class Socket:
        def makefile(self, _mode: str) -> io.BytesIO:
            return io.BytesIO(raw)

    response = http.client.HTTPResponse(Socket(), method="GET")  # type: ignore[arg-type]
    try:
        response.begin()
        if response.status < 200:
            return None
        return response.status, response.read()
    except (http.client.HTTPException, ValueError, OSError, OverflowError):
        return None


def test_curl_pages_are_read_as_the_standard_library_reads_them() -> None:
    replies, responses, _ = curl_exchanges()
    agreed = 0
    differing = set()
    for (case, raw), response in zip(replies, responses, strict=True):
        expected = http_client(raw) if case["curl_exit"] == 0 else None
        if expected is None:
            continue
        if expected == (response.status, response.wire_body):
            agreed += 1
        else:
            differing.add(case["id"])
    assert differing == set(OTHERWISE)
    assert agreed == 444


BODIES = {
    "html-br.bin": "br",
    "html-gzip.bin": "gzip",
    "html-rawdeflate.bin": "deflate",
    "html-zlibdeflate.bin": "deflate",
    "html-zstd-static-content-size.bin": "zstd",
    "html-zstd-static-no-content-size.bin": "zstd",
    "html-zstd-streaming-no-content-size.bin": "zstd",
    "html-gzip-deflate.bin": "gzip, deflate",
    "html-gzip-deflate-gzip.bin": "gzip, deflate, gzip",
}
BOMBS = {
    "bomb-br.bin": "br",
    "bomb-gzip.bin": "gzip",
    "bomb-deflate.bin": "deflate",
    "bomb-zstd.bin": "zstd",
}


def inflate(data: bytes) -> bytes:
    try:
        return zlib.decompress(data)
    except zlib.error:
        return zlib.decompress(data, -15)


DECODERS: dict[str, Callable[[bytes], bytes]] = {
    "br": brotli.decompress,
    "gzip": gzip.decompress,
    "deflate": inflate,
    "zstd": lambda data: zstandard.ZstdDecompressor().decompressobj().decompress(data),
}


def fetch_coded(name: str, coding: str, **limits: float) -> FetchResponse:
    body = suite("http-scrapy-compressed", name).read_bytes()
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\nContent-Length: {len(body)}\r\n\r\n"
    with HostileServer(default=send(head.encode() + body)) as server:
        settings = {"allow_private": True, "limits": LIMITS | limits}
        [response] = Fetcher(settings).fetch([server.url()])
    assert response.wire_body == body
    return response


@pytest.mark.parametrize("name", BODIES)
def test_compressed_bodies(name: str) -> None:
    response = fetch_coded(name, BODIES[name])
    assert response.outcome == "fetched"
    expected = response.wire_body
    for coding in reversed(BODIES[name].split(", ")):
        expected = DECODERS[coding](expected)
    assert response.body == expected
    assert expected


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_stay_small(name: str) -> None:
    response = fetch_coded(name, BOMBS[name], decoded_bytes=50_000_000, ratio=100)
    assert (response.outcome, response.body) == ("encoding_broken", b"")
    cut = fetch_coded(name, BOMBS[name], decoded_bytes=1_000_000, ratio=10_000_000)
    assert (cut.outcome, len(cut.body)) == ("truncated", 1_000_000)


def test_truncated_gzip_gives_what_came() -> None:
    response = fetch_coded("unexpected-eof.gz", "gzip")
    expected = suite("http-scrapy-compressed", "unexpected-eof-output.txt").read_bytes()
    assert (response.outcome, response.truncated) == ("truncated", "decoded")
    # The file of the suite holds the bytes as text, one character for each.
    assert response.body.decode("latin-1") == expected.decode()
    for name in ("truncated-crc-error.gz", "truncated-crc-error-short.gz"):
        response = fetch_coded(name, "gzip")
        assert (response.outcome, response.truncated) == ("truncated", "decoded")
        assert b"<!doctype" in response.body[:99].lower()


def test_odd_spellings_of_addresses_reach_the_guard() -> None:
    spellings = json.loads(suite("security-ssrf", "funky_ipv4.json").read_text())
    # No test sends a packet to a public address: those are left to the guard alone.
    spellings = {h: ip for h, ip in spellings.items() if ip is None or forbidden_address(ip)}
    assert len(spellings) >= 30
    # A name server that nobody runs: what is no address must not be found either.
    fetcher = Fetcher({"dns": {"servers": ["127.0.0.1:9"], "timeout": 0.2, "attempts": 1}})
    responses = fetcher.fetch([f"http://{host}:81/" for host in spellings], concurrency=64)
    for (host, ip), response in zip(spellings.items(), responses, strict=True):
        if ip is None:
            assert response.outcome in {"url_refused", "dns_failed", "dns_not_found"}, host
        else:
            assert (response.outcome, response.ip) == ("forbidden_address", ip), host


def test_edges_of_private_ranges() -> None:
    for row in json.loads(suite("security-ssrf", "nutch_cidr.json").read_text()):
        # Rows outside their range may lie in another that is forbidden too.
        if row["contains"]:
            assert forbidden_address(row["ip"]), row
    for public in ("128.0.0.0", "11.0.0.0", "9.255.255.255", "172.32.0.0", "171.255.255.255"):
        assert forbidden_address(public) is None
