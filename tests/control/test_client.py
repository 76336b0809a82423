"""The client of the command line: which addresses it takes, and how long it waits."""

import contextlib
import http.server
import os
import re
import secrets
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.control.serving import Served

from gossamer.cli import operate
from gossamer.control import client
from gossamer.control.api.app import DASHBOARD
from gossamer.control.client import Client
from gossamer.control.leader.node_requests import SNAPSHOT_ANSWER
from gossamer.errors import GossamerError, UsageError

SLOW = 1.5


class Slow(http.server.BaseHTTPRequestHandler):
    """Answers every command as confirmed, after a while; a pause never."""

    def do_POST(self) -> None:
        if b"pause" in self.rfile.read(int(self.headers["Content-Length"])):
            # Until the other side is gone.
            self.rfile.read(1)
            return
        time.sleep(SLOW)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"command": "checkpoint", "confirmed": true, "nodes": [{}]}')

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Nothing."""


@pytest.fixture
def slow() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Slow) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize(
    "url", ["http://h:99999", "http://h:x", "http://[::1", "http://", "ftp://h:1", "h:8780", ""]
)
def test_an_address_that_is_none_is_wrong_use(url: str):
    with pytest.raises(UsageError, match="give it as http://HOST:PORT"):
        Client(url, "t" * 43)


def test_a_checkpoint_is_waited_for_longer_than_other_commands(
    slow: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(client, "TIMEOUT", SLOW / 3)
    monkeypatch.setattr(operate, "find", lambda *_: Client(slow, "t" * 43))
    operate.checkpoint(json=True)
    with pytest.raises(GossamerError, match="no answer"):
        operate.pause(json=True)


def test_clients_wait_longer_than_the_control_node():
    assert client.LONG_TIMEOUT > SNAPSHOT_ANSWER
    script = (DASHBOARD / "static" / "api.js").read_text()
    found = re.search(r"LONG_PATIENCE = ([0-9_]+);", script)
    assert found is not None
    assert int(found[1]) / 1000 > SNAPSHOT_ANSWER


def test_a_body_without_a_length_is_bounded_too(quiet: Served):
    host, _, port = quiet.authority.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=60) as raw:
        raw.sendall(
            f"POST /api/v1/seeds HTTP/1.1\r\nHost: {quiet.authority}\r\n"
            f"Authorization: Bearer {quiet.token()}\r\nContent-Type: application/json\r\n"
            "Transfer-Encoding: chunked\r\n\r\n".encode()
        )
        chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
        # It may close before all of the last one is sent.
        with contextlib.suppress(ConnectionError):
            for _ in range(33):
                raw.sendall(chunk)
        answer = b""
        while b"}" not in answer and (part := raw.recv(4096)):
            answer += part
    assert answer.startswith(b"HTTP/1.1 413 "), answer
    assert b'"too_large"' in answer


def test_a_control_node_is_found_in_its_own_directory(slow: str, tmp_path: Path):
    """`gossamer control --out DIR` has its files in DIR, a crawl in DIR/control."""
    for place, out in (
        (tmp_path / "own", tmp_path / "own"),
        (tmp_path / "c/control", tmp_path / "c"),
    ):
        place.mkdir(parents=True)
        (place / "url").write_text(f"{slow}\n")
        (place / "pid").write_text(f"{os.getpid()}\n")
        (place / "token").write_text(secrets.token_urlsafe(32) + "\n")
        (place / "token").chmod(0o600)
        assert client.find(None, out).post("/commands", {})["confirmed"]
