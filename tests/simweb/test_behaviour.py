"""Behaviours over time and on the wire: validators, change, codings, latency, DNS, odd requests."""

import contextlib
import socket
import struct
import time
from collections.abc import Iterator
from email.utils import parsedate_to_datetime
from typing import Any

import pytest
from tests.simweb.client import Client, decoded

from gossamer.simweb import Options, SimWeb, serve, truth


@contextlib.contextmanager
def running(**options: Any) -> Iterator[tuple[SimWeb, Client]]:
    client = Client()
    with serve(Options(**{"hosts": 4, "pages": 200, "port": 0} | options)) as web:
        try:
            yield web, client
        finally:
            client.close()


def test_validators_give_correct_304s() -> None:
    seen = set()
    with running(validators=1.0, compression=0.5) as (web, client):
        for url in truth(web.options).urls:
            first = client.get(url)
            tag, modified = first.headers.get("etag"), first.headers.get("last-modified")
            seen.add((bool(tag), bool(modified), (tag or "").startswith("W/")))
            if tag:
                again = client.get(url, {"If-None-Match": f'"other", {tag}'})
                assert (again.status, again.body) == (304, b"")
                assert again.headers["etag"] == tag
                # A tag that does not match wins over a date that does.
                both = {"If-None-Match": '"other"', "If-Modified-Since": modified or ""}
                assert client.get(url, both).status == 200
            if modified:
                parsedate_to_datetime(modified)
                assert client.get(url, {"If-Modified-Since": modified}).status == 304
                old = "Mon, 01 Jan 2001 00:00:00 GMT"
                assert client.get(url, {"If-Modified-Since": old}).status == 200
    assert seen == {
        (True, False, False),
        (True, False, True),
        (False, True, False),
        (True, True, False),
    }


def test_without_validators_conditions_are_ignored() -> None:
    with running() as (web, client):
        response = client.get(web.url, {"If-None-Match": "*", "If-Modified-Since": "x"})
        assert response.status == 200
        assert "etag" not in response.headers


def test_pages_change_at_the_known_rate() -> None:
    # 40 simulated days a second, a change a day: some changes a page while we look.
    with running(change_rate=1.0, clock_speed=86_400 * 40.0, validators=1.0) as (web, client):
        known = truth(web.options)
        rates = {row.url: row.change_rate for row in known.rows()}
        urls = list(rates)[:60]
        seen = {url: {client.get(url).body} for url in urls}
        begin = web.simulated_now()
        # Twenty simulated days, however fast this machine is.
        while web.simulated_now() < begin + 20 * 86_400:
            for url in urls:
                seen[url].add(client.get(url).body)
        days = (web.simulated_now() - begin) / 86_400
        slow = [url for url in urls if rates[url] * days < 0.01]
        fast = [url for url in urls if rates[url] * days > 10]
        assert all(len(seen[url]) <= 2 for url in slow)
        assert fast
        assert all(len(seen[url]) > 1 for url in fast)
        mean = sum(row.change_rate for row in known.rows()) / len(known)
        assert 0.6 < mean < 1.6


def test_an_unchanged_tag_means_unchanged_bytes() -> None:
    with running(change_rate=1.0, clock_speed=86_400 * 20.0, validators=1.0) as (web, client):
        by_tag: dict[tuple[str, str], bytes] = {}
        for _ in range(30):
            response = client.get(web.url)
            if "etag" in response.headers:
                tag = response.headers["etag"]
                assert by_tag.setdefault((web.url, tag), response.body) == response.body
            time.sleep(0.01)


def test_links_do_not_change() -> None:
    from tests.simweb.client import links

    with running(change_rate=50.0, clock_speed=1e6) as (web, client):
        rows = {row.url: row.links for row in truth(web.options).rows()}
        for url, expected in list(rows.items())[:50]:
            assert links(url, client.get(url).body) == expected


def test_codings_are_negotiated() -> None:
    with running(compression=1.0) as (web, client):
        urls = truth(web.options).urls[:60]
        seen = set()
        for url in urls:
            plain = client.get(url)
            assert "content-encoding" not in plain.headers
            coded = client.get(url, {"Accept-Encoding": "gzip, br, zstd"})
            seen.add(coded.headers["content-encoding"])
            assert decoded(coded) == plain.body
            only = client.get(url, {"Accept-Encoding": "br;q=0, zstd"})
            assert only.headers["content-encoding"] == "zstd"
            assert only.headers["vary"] == "Accept-Encoding"
        assert seen == {"gzip", "br", "zstd"}


def test_latency() -> None:
    with running(latency="120ms") as (web, client):
        begin = time.monotonic()
        client.get(web.url)
        assert 0.12 <= time.monotonic() - begin < 3


def test_slow_hosts_drip() -> None:
    with running(hosts=12, drip=1.0, drip_seconds=0.5) as (web, client):
        second = truth(web.options).model.authority(1)
        begin = time.monotonic()
        response = client.get(f"http://{second}/")
        assert response.status == 200
        assert int(response.headers["content-length"]) == len(response.body)
        assert time.monotonic() - begin >= 0.4


def test_retry_after_and_recovery() -> None:
    with running(throttle=0.5, retry_after=7) as (web, client):
        waits: set[object] = set()
        for row in truth(web.options).rows():
            first = client.get(row.url)
            if row.kind == "throttled_once":
                assert first.status in {429, 503}
                waits.add((first.headers.get("retry-after") or "none")[:1].isdigit())
                waits.add(first.headers.get("retry-after"))
                first = client.get(row.url)
            assert first.status == 200
        assert {True, False, "7", None} <= waits


def _raw(web: SimWeb, data: bytes) -> bytes:
    with socket.create_connection(("127.1.1.1", web.port), timeout=10) as sock:
        sock.sendall(data)
        sock.shutdown(socket.SHUT_WR)
        out = b""
        while chunk := sock.recv(65536):
            out += chunk
        return out


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" * 3, b"200"),
        (b"GET / HTTP/1.0\r\n\r\n", b"200"),
        (b"POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello", b"405"),
        (b"nonsense\r\n\r\n", b"400"),
        (b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\n\r\n", b"431"),
        (b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 100 + b"\r\n", b"431"),
        (b"GET /no/such/page HTTP/1.1\r\n\r\n", b"404"),
        (b"GET http://x/ HTTP/1.1\r\n\r\n", b"200"),
    ],
)
def test_odd_requests(request_bytes: bytes, status: bytes) -> None:
    with running() as (web, _):
        answer = _raw(web, request_bytes)
        assert answer.startswith(b"HTTP/1.1 " + status)
        if request_bytes.count(b"GET") == 3:
            assert answer.count(b"HTTP/1.1 200") == 3


def test_head_has_the_length_and_no_body() -> None:
    with running() as (web, client):
        page = client.get(web.url)
        head = client.get(web.url, method="HEAD")
        assert head.body == b""
        assert head.headers["content-length"] == str(len(page.body))


def test_addresses_outside_the_web_are_refused() -> None:
    with running() as (web, client):
        assert client.get(f"http://127.0.0.1:{web.port}/").status == 421
        assert client.get(f"http://127.9.9.9:{web.port}/").status == 421


def _ask(port: int, name: str, kind: int = 1) -> tuple[int, list[str]]:
    labels = b"".join(bytes([len(part)]) + part.encode() for part in name.split("."))
    query = (
        struct.pack(">HHHHHH", 77, 0x0100, 1, 0, 0, 0)
        + labels
        + b"\0"
        + struct.pack(">HH", kind, 1)
    )
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.settimeout(10)
        sock.sendto(query, ("127.0.0.1", port))
        answer = sock.recv(1500)
    number, flags, _, count = struct.unpack(">HHHH", answer[:8])
    assert number == 77
    rest = answer[len(query) :]
    assert len(rest) == 16 * count
    return flags & 15, [socket.inet_ntoa(rest[at + 12 : at + 16]) for at in range(0, len(rest), 16)]


def test_names_and_addresses() -> None:
    options = Options(
        hosts=60, pages=600, port=0, names=True, shared_address=0.3, multi_address=0.5
    )
    client = Client()
    with serve(options, dns_port=0) as web:
        assert web.url == f"http://h0.sim.test:{web.port}/"
        assert web.dns_port
        known = truth(web.options)
        answers = {}
        for host in range(60):
            code, found = _ask(web.dns_port, f"h{host}.sim.test")
            assert code == 0
            assert found == known.model.addresses(host)
            answers[host] = found
            for address in found:
                url = f"http://{address}:{web.port}/"
                response = client.get(url, {"Host": f"h{host}.sim.test:{web.port}"})
                assert (
                    known.model.title(known.urls.index(f"http://h{host}.sim.test:{web.port}/"))
                    in response.body.decode()
                )
        first = [found[0] for found in answers.values()]
        assert len(set(first)) < len(first)
        assert max(len(found) for found in answers.values()) > 2
        assert _ask(web.dns_port, "h60.sim.test") == (3, [])
        assert _ask(web.dns_port, "nobody.sim.test") == (3, [])
        assert _ask(web.dns_port, "example.org") == (5, [])
        assert _ask(web.dns_port, "h1.sim.test", kind=28) == (0, [])
    client.close()
