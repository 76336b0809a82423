"""Proxies and cookies: what travels where."""

from __future__ import annotations

import base64
import contextlib
import socket
import threading
from typing import Any

import pytest
from tests.native.hostile_server import Handler, HostileServer, read_head, send

from gossamer._native import Fetcher

PAGE = send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")


def relay(connection: socket.socket, host: str, port: int) -> None:
    """Passes bytes both ways until one side closes."""
    with socket.create_connection((host, port)) as other:

        def back() -> None:
            # Who is gone first is not for us to say.
            with contextlib.suppress(OSError):
                while data := other.recv(65536):
                    connection.sendall(data)
                connection.shutdown(socket.SHUT_WR)

        thread = threading.Thread(target=back, daemon=True)
        thread.start()
        with contextlib.suppress(OSError):
            while data := connection.recv(65536):
                other.sendall(data)
            other.shutdown(socket.SHUT_WR)
        thread.join(timeout=5)


def socks_server(seen: list[tuple[int, str, int]], login: bytes | None = None) -> Handler:
    def handle(connection: socket.socket) -> None:
        count = connection.recv(2)[1]
        connection.recv(count)
        if login is not None:
            connection.sendall(b"\x05\x02")
            given = connection.recv(512)
            connection.sendall(b"\x01\x00" if given == login else b"\x01\x01")
        else:
            connection.sendall(b"\x05\x00")
        _, _, _, kind = connection.recv(4)
        if kind == 1:
            host = socket.inet_ntoa(connection.recv(4))
        else:
            host = connection.recv(connection.recv(1)[0]).decode()
        port = int.from_bytes(connection.recv(2), "big")
        seen.append((kind, host, port))
        connection.sendall(b"\x05\x00\x00\x01" + bytes(6))
        relay(connection, "127.0.0.1", port)

    return handle


def test_http_proxy_gets_the_whole_url_and_its_own_login() -> None:
    with HostileServer(default=PAGE) as proxy:
        settings = {"allow_private": True, "proxy": f"http://me:p%40ss@127.0.0.1:{proxy.port}"}
        fetcher = Fetcher(settings)
        responses = fetcher.fetch(
            ["http://somewhere.test/a?b", "http://127.1.2.3/x"], concurrency=1
        )
    assert [r.outcome for r in responses] == ["fetched"] * 2
    head = proxy.requests[0]
    assert head.startswith(b"GET http://somewhere.test/a?b HTTP/1.1\r\nHost: somewhere.test\r\n")
    assert b"Proxy-Authorization: Basic " + base64.b64encode(b"me:p@ss") in head


def test_http_proxy_still_refuses_private_addresses() -> None:
    with HostileServer(default=PAGE) as proxy:
        fetcher = Fetcher({"proxy": f"http://127.0.0.1:{proxy.port}"})
        [response] = fetcher.fetch(["http://10.0.0.1/"])
    assert response.outcome == "forbidden_address"
    assert proxy.requests == []


def test_connect_is_asked_for_tls_and_its_refusal_is_an_outcome() -> None:
    heads: list[bytes] = []

    def refuse(connection: socket.socket) -> None:
        heads.append(read_head(connection))
        connection.sendall(b"HTTP/1.1 403 No\r\n\r\n")

    with HostileServer(on_connect=refuse) as proxy:
        fetcher = Fetcher({"proxy": f"http://127.0.0.1:{proxy.port}"})
        [response] = fetcher.fetch(["https://somewhere.test/secret"])
    assert response.outcome == "connect_failed"
    assert "403" in response.detail
    assert heads[0].startswith(b"CONNECT somewhere.test:443 HTTP/1.1\r\n")
    assert b"secret" not in heads[0]


def test_socks5_resolves_here_and_socks5h_there() -> None:
    seen: list[tuple[int, str, int]] = []
    with (
        HostileServer(default=PAGE) as server,
        HostileServer(on_connect=socks_server(seen)) as proxy,
    ):
        dns = {"fixed": {"site.test": ["127.0.0.1"]}}
        bodies = []
        for scheme in ("socks5", "socks5h"):
            fetcher = Fetcher(
                {"allow_private": True, "dns": dns, "proxy": f"{scheme}://127.0.0.1:{proxy.port}"}
            )
            [response] = fetcher.fetch([server.url(host="site.test")])
            bodies.append((response.outcome, response.body, response.ip))
    assert bodies == [("fetched", b"ok", "127.0.0.1"), ("fetched", b"ok", None)]
    assert seen == [(1, "127.0.0.1", server.port), (3, "site.test", server.port)]


def test_socks5_login() -> None:
    seen: list[tuple[int, str, int]] = []
    handler = socks_server(seen, login=b"\x01\x02me\x03pwd")
    with HostileServer(default=PAGE) as server, HostileServer(on_connect=handler) as proxy:
        right = Fetcher({"allow_private": True, "proxy": f"socks5://me:pwd@127.0.0.1:{proxy.port}"})
        wrong = Fetcher({"allow_private": True, "proxy": f"socks5://me:no@127.0.0.1:{proxy.port}"})
        outcomes = [f.fetch([server.url()])[0].outcome for f in (right, wrong)]
    assert outcomes == ["fetched", "connect_failed"]


def test_no_cookie_is_kept_unless_asked_for() -> None:
    answer = send(b"HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nContent-Length: 0\r\n\r\n")
    sent = {}
    for cookies in (False, True):
        with HostileServer(default=answer) as server:
            fetcher = Fetcher({"allow_private": True, "cookies": cookies})
            fetcher.fetch([server.url(), server.url()], concurrency=1)
            fetcher.fetch([server.url(host="localhost")])
        sent[cookies] = [b"Cookie: a=1\r\n" in head for head in server.requests]
    assert sent == {False: [False] * 3, True: [False, True, False]}


def test_a_setting_that_is_not_known_is_named() -> None:
    wrong: list[dict[str, Any]] = [
        {"user_agnet": "x"},
        {"limits": {"conect": 1}},
        {"dns": {"server": []}},
    ]
    for settings in wrong:
        with pytest.raises(ValueError, match="no setting"):
            Fetcher(settings)
