"""Answers that no route gave: failures of ours, and requests that are no HTTP."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import cast

import pytest

from gossamer.control.api.safety import SAFETY
from gossamer.control.api.server import serve
from gossamer.control.service import Service
from gossamer.control.tokens import read_token
from gossamer.settings.model import ControlSettings


class Broken:
    """A service with a defect in whatever is asked of it."""

    async def status(self) -> None:
        raise ZeroDivisionError("a secret of ours")

    async def alerts(self) -> int:
        # Not of the shape that the route promises.
        return 17


@pytest.fixture
async def broken(tmp_path: Path) -> AsyncIterator[str]:
    service = cast("Service", Broken())
    async with serve(service, ControlSettings(port=0), tmp_path) as serving:
        yield serving.url.removeprefix("http://")


async def ask(authority: str, request: str) -> tuple[int, dict[str, str], str]:
    host, _, port = authority.rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        writer.write(request.encode())
        async with asyncio.timeout(60):
            head, _, body = (await reader.read()).decode().partition("\r\n\r\n")
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()
    first, *lines = head.split("\r\n")
    names = [line.partition(":")[0].lower() for line in lines]
    assert len(names) == len(set(names)), names
    fields = {name: line.partition(":")[2].strip() for name, line in zip(names, lines, strict=True)}
    return int(first.split()[1]), fields, body


def check_safe(fields: dict[str, str]) -> None:
    for name, value in SAFETY.items():
        assert fields[name.lower()] == value
    assert "server" not in fields


@pytest.mark.parametrize("route", ["status", "alerts"])
async def test_a_failure_of_ours_is_a_safe_answer(broken: str, tmp_path: Path, route: str) -> None:
    token = await asyncio.to_thread(read_token, tmp_path / "token")
    status, fields, body = await ask(
        broken,
        f"GET /api/v1/{route} HTTP/1.1\r\nHost: {broken}\r\nAuthorization: Bearer {token}\r\n"
        "Connection: close\r\n\r\n",
    )
    assert status == 500
    check_safe(fields)
    assert '"code":"defect"' in body
    assert "secret" not in body


async def test_what_is_no_http_is_refused_safely(broken: str) -> None:
    status, fields, _ = await ask(broken, "GET / HTTP/1.1\r\nbad header\r\n\r\n")
    assert status == 400
    check_safe(fields)


async def test_a_refusal_of_the_guard_is_safe(broken: str) -> None:
    status, fields, _ = await ask(
        broken, "GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n"
    )
    assert status == 403
    check_safe(fields)
