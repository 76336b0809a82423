"""Who has no token cannot lock out those who have one: not by silence, not by many connections."""

import contextlib
import socket
import time
from collections.abc import Iterator

from tests.control.serving import Served, until
from tests.control.test_stream import Stream

from gossamer.control.api.connections import HEAD, MOST, SILENT
from gossamer.control.api.stream_routes import KEPT, STREAMS


def connect(served: Served) -> socket.socket:
    host, _, port = served.authority.rpartition(":")
    return socket.create_connection((host, int(port)), timeout=60)


def is_closed(one: socket.socket) -> bool:
    one.setblocking(False)
    try:
        return one.recv(4096) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


@contextlib.contextmanager
def many(served: Served, count: int, first: bytes) -> Iterator[list[socket.socket]]:
    opened: list[socket.socket] = []
    try:
        for _ in range(count):
            opened.append(connect(served))
            with contextlib.suppress(OSError):
                opened[-1].sendall(first)
        yield opened
    finally:
        for one in opened:
            one.close()


def test_silent_connections_lock_nobody_out(quiet: Served):
    with many(quiet, MOST + 5, b"") as silent:
        # The second answer comes after all that the first one's connection made it close.
        for _ in range(2):
            assert quiet.ask("GET", "/api/v1/status").status == 200
        # Sooner than silence alone would close them.
        until(lambda: is_closed(silent[0]), "the oldest silent one is closed", HEAD / 2)
        until(lambda: sum(not is_closed(one) for one in silent) <= SILENT, "others too", HEAD / 2)


def test_begun_requests_lock_nobody_out(quiet: Served):
    with many(quiet, MOST + 5, f"GET / HTTP/1.1\r\nHost: {quiet.authority}\r\n".encode()):
        assert quiet.ask("GET", "/api/v1/status").status == 200


def test_requests_without_a_token_lock_nobody_out(quiet: Served):
    stream = Stream(quiet)
    asked = f"GET /api/v1/status HTTP/1.1\r\nHost: {quiet.authority}\r\n\r\n".encode()
    with many(quiet, MOST + 5, asked):
        assert quiet.ask("GET", "/api/v1/status").status == 200
        # What a token has opened is worth more.
        assert next(iter(stream.messages()))[0] == "status"
    stream.close()


def test_a_request_that_never_gets_whole_is_ended(quiet: Served):
    begun = time.monotonic()
    with connect(quiet) as one:
        one.sendall(b"GET / HTTP/1.1\r\n")
        while not is_closed(one):
            with contextlib.suppress(OSError):
                one.setblocking(True)
                one.sendall(b"a: b\r\n")
            assert time.monotonic() - begun < HEAD + 5
            time.sleep(0.5)
    assert time.monotonic() - begun > HEAD - 1


def test_what_is_no_http_is_refused_with_the_headers_of_safety(quiet: Served):
    with connect(quiet) as one:
        one.sendall(b"what is this\r\n\r\n")
        answer = b""
        while part := one.recv(4096):
            answer += part
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"content-security-policy: default-src 'none'" in answer.lower()


def test_streams_to_read_leave_some_to_operate(quiet: Served):
    opened: list[Stream] = []
    token = quiet.token("token-read")
    try:
        opened.extend(Stream(quiet, token=token) for _ in range(STREAMS - KEPT))
        refused = quiet.ask("GET", "/api/v1/stream", token=token)
        assert refused.status == 409
        assert refused.json["code"] == "too_many_streams"
        opened.append(Stream(quiet))
    finally:
        for stream in opened:
            stream.close()
