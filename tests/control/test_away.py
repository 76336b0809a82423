"""An engine or a node that is away: 503 with Retry-After, asked again by our commands, exit code 1."""

import http.server
import json
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import httpx
import pytest

from gossamer.cli import main as command_line
from gossamer.control import client
from gossamer.control.api.app import make_app
from gossamer.control.audit_log import AuditLog
from gossamer.control.client import AwayError, Client
from gossamer.control.schemas import Role
from gossamer.control.service import (
    RefusedError,
    Service,
    ServiceError,
    UnreachableError,
    service_error,
)
from gossamer.control.tokens import Tokens
from gossamer.errors import (
    ConflictError,
    DiskFullError,
    EngineAwayError,
    EngineEmptyError,
    GossamerError,
    NoResponderError,
    SettingsError,
    SnapshotError,
    UsageError,
)

TOKEN = "t" * 43


@pytest.mark.parametrize(
    ("error", "kind", "code", "again"),
    [
        (UsageError("x"), RefusedError, "not_done", None),
        (SettingsError("x"), RefusedError, "not_done", None),
        (DiskFullError("x"), RefusedError, "disk_full", None),
        (EngineAwayError("x"), UnreachableError, "no_answer", 2),
        (NoResponderError("x"), UnreachableError, "no_answer", 2),
        (EngineEmptyError("x"), UnreachableError, "no_answer", 2),
        (ConflictError("x"), UnreachableError, "no_answer", 2),
        (SnapshotError("x"), UnreachableError, "failed", None),
        (GossamerError("x"), UnreachableError, "failed", None),
    ],
)
def test_what_the_api_makes_of_an_error(
    error: GossamerError, kind: type[ServiceError], code: str, again: int | None
) -> None:
    found = service_error(error)
    assert (type(found), found.code, getattr(found, "again", None)) == (kind, code, again)


class Away:
    """A service whose engine is away."""

    def __init__(self, error: ServiceError) -> None:
        self._error = error

    async def why(self, _url: str) -> None:
        raise self._error

    async def command(self, _command: object, _who: str) -> None:
        raise self._error


@pytest.mark.parametrize(
    ("error", "status", "retry_after"),
    [
        (service_error(EngineAwayError("the engine is away")), 503, "2"),
        (UnreachableError("no_number", "taken, not numbered", again=None), 503, None),
        (service_error(UsageError("no such node")), 409, None),
    ],
)
async def test_the_status_says_whether_to_ask_again(
    tmp_path: Path, error: ServiceError, status: int, retry_after: str | None
) -> None:
    app = make_app(
        cast("Service", Away(error)),
        tokens=Tokens({Role.OPERATE: TOKEN}),
        audit=AuditLog(tmp_path / "audit.jsonl"),
        authorities=["here:1"],
        origins=[],
    )
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app), base_url="http://here:1", headers=headers
    ) as asker:
        answers = [
            await asker.get("/api/v1/urls", params={"url": "http://x/"}),
            await asker.post("/api/v1/commands", json={"command": "pause"}),
        ]
    for answer in answers:
        assert answer.status_code == status
        assert answer.headers.get("retry-after") == retry_after
        assert answer.json()["detail"] == error.detail


class Electing(http.server.BaseHTTPRequestHandler):
    """A control node whose engine is away for the first requests."""

    left = 0
    retry_after: str | None = "0"
    asked = 0

    def do_GET(self) -> None:
        kind = type(self)
        kind.asked += 1
        away = kind.left > 0
        kind.left -= 1
        self.send_response(503 if away else 200)
        if away and kind.retry_after is not None:
            self.send_header("Retry-After", kind.retry_after)
        self.end_headers()
        self.wfile.write(json.dumps({"code": "no_answer", "detail": "KV_map: no answer"}).encode())

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Nothing."""


@pytest.fixture
def electing() -> Iterator[tuple[Client, Any]]:
    handler = type("Handler", (Electing,), {})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield Client(f"http://127.0.0.1:{server.server_port}", TOKEN), handler
        server.shutdown()


def test_a_command_asks_again_while_the_engine_is_away(electing: tuple[Client, Any]) -> None:
    asker, handler = electing
    handler.left = 3
    asker.get("/urls")
    assert handler.asked == 4


def test_and_then_says_what_is_away(
    electing: tuple[Client, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    asker, handler = electing
    handler.left, handler.retry_after = 10**9, "2"
    now = [0.0]
    # Time passes where it waits, and nowhere else: the number of tries does not depend on the machine.
    clock = SimpleNamespace(monotonic=lambda: now[0], sleep=lambda s: now.append(now.pop() + s))
    monkeypatch.setattr(client, "time", clock)
    monkeypatch.setattr(client, "PATIENCE", 5.0)
    with pytest.raises(AwayError, match="not done now: KV_map: no answer") as found:
        asker.get("/urls")
    assert not isinstance(found.value, UsageError)
    assert (handler.asked, now) == (3, [4.0])


def test_what_must_not_be_asked_again_is_not(electing: tuple[Client, Any]) -> None:
    asker, handler = electing
    handler.left, handler.retry_after = 10**9, None
    with pytest.raises(AwayError):
        asker.get("/urls")
    assert handler.asked == 1


def test_an_engine_that_is_away_is_exit_code_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def away(*_: object, **__: object) -> None:
        raise EngineAwayError("no control node answers: no answer in time")

    monkeypatch.setattr(
        sys, "argv", ["gossamer", "nodes", "list", "--engine", "nats://127.0.0.1:1"]
    )
    monkeypatch.setattr("gossamer.cli.nodes.connect", away)
    assert command_line.main() == 1
    assert "no control node answers" in capsys.readouterr().err
