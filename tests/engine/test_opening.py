"""Opening a line to a real nats-server: clear errors, permissions, an end that is one."""

import asyncio
import contextlib
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from nats.aio.client import Client
from tests.contract.engine.worlds import eventually
from tests.ports import free_ports

from gossamer.engine import Access, Names, Server, connect
from gossamer.engine.jetstream import internals, opening
from gossamer.engine.names import FACTS
from gossamer.errors import EngineAwayError, EngineRefusedError, SettingsError


def test_the_client_has_the_private_parts_that_we_use() -> None:
    """A new version of the client must be looked at: these names are not promised to anybody."""
    client = Client()
    assert vars(client)["_reconnection_task"] is None
    assert vars(client)["_transport"] is None
    assert internals.search(client) is None
    internals.drop_line(client)


async def test_closing_ends_what_the_client_goes_on_with(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = await connect(Access([server.url]), "web", "test")
    server.stop()

    async def trying() -> bool:
        return bool(one._client.is_reconnecting)

    await eventually(trying, "the client to look for the server")

    async def nothing() -> None:
        """The client's own closing cancels that, but a cancellation can be lost."""

    monkeypatch.setattr(one._client, "close", nothing)
    await one.close()
    names = [str(task.get_coro()) for task in asyncio.all_tasks()]
    assert [name for name in names if "_attempt_reconnect" in name] == []


async def test_wrong_address_is_named() -> None:
    with pytest.raises(EngineAwayError, match=r"127\.0\.0\.1:1.*refused") as told:
        await connect(Access(["nats://someone:secret@127.0.0.1:1"]), "web", "test")
    assert "secret" not in str(told.value)
    with pytest.raises(SettingsError):
        await connect(Access([]), "web", "test")
    with pytest.raises(SettingsError):
        Names("a.b")


@contextlib.asynccontextmanager
async def mute(first: bytes) -> AsyncIterator[int]:
    """A port where somebody says something, or nothing, and then listens until we hang up."""
    ended = threading.Event()

    def talk() -> None:
        near, _address = listener.accept()
        with near:
            near.settimeout(30)
            near.sendall(first)
            while near.recv(4096):
                pass
        ended.set()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=talk)
        thread.start()
        yield listener.getsockname()[1]
        await asyncio.to_thread(thread.join)
    assert ended.is_set(), "the line was left open"


@pytest.mark.parametrize(
    "first",
    [
        b"",
        b"INFO {}",
        b'INFO {"server_id":"x","version":"2.11.0","tls_required":true}\r\n',
        b'INFO {"server_id":"x","version":"2.11.0"}\r\n',
        b"INFO [not JSON\r\n",
        b"HTTP/1.1 400 Bad Request\r\n",
    ],
    ids=["nothing", "half", "no handshake", "no answer", "junk", "another service"],
)
async def test_who_is_no_engine_is_given_up(first: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Within a bounded time, also in the middle of a TLS handshake."""
    monkeypatch.setattr(opening, "CONNECT_TIMEOUT", 0.2)
    scheme = "tls" if b"tls" in first else "nats"
    async with mute(first) as port:
        where = f"127.0.0.1:{port}"
        async with asyncio.timeout(20):
            with pytest.raises(EngineAwayError, match=f"no engine answers.*{where}: ."):
                await connect(Access([f"{scheme}://{where}"]), "web", "test")


async def test_a_guarded_server_wants_its_token(tmp_path: Path) -> None:
    one = Server(tmp_path / "engine", guarded=True)
    one.start()
    try:
        assert one.token is not None
        for file in (one.token, one.directory / "nats.conf"):
            assert file.stat().st_mode & 0o077 == 0
        with pytest.raises(EngineRefusedError, match=r"(?i)authorization"):
            await connect(Access([one.url]), "web", "test")
        with pytest.raises(SettingsError, match=r"cluster\.token"):
            await connect(Access([one.url], token=tmp_path / "none"), "web", "test")
        await (await connect(Access([one.url], token=one.token), "web", "test")).close()
        before = one.token.read_text()
        one.stop()
        one.start()
        assert one.token.read_text() == before
    finally:
        one.stop()


@pytest.fixture
def guarded(tmp_path: Path):
    """A server with two users: one may do everything, one may not use JetStream."""
    one = Server(tmp_path / "guarded")
    one.directory.mkdir()
    extra = """
authorization { users: [
  {user: all, password: p},
  {user: none, password: p, permissions: {publish: "x", subscribe: ["_INBOX.>"]}}
] }
"""
    server = ConfiguredServer(one, extra)
    server.start()
    yield server
    server.stop()


class ConfiguredServer:
    def __init__(self, server: Server, extra: str, *, jetstream: bool = True) -> None:
        self.port = server.port
        self._file = server.directory / "guarded.conf"
        text = f'listen: "127.0.0.1:{server.port}"\n'
        if jetstream:
            text += f'jetstream {{store_dir: "{server.directory}"}}\n'
        self._file.write_text(text + extra)
        self._server = server

    def start(self) -> None:
        nats_server = Path(sys.executable).with_name("nats-server")
        self._process = subprocess.Popen([nats_server, "-c", self._file], stderr=subprocess.DEVNULL)
        while not self._server._answers():
            assert self._process.poll() is None

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait(10)


async def test_no_permission_is_told(guarded: ConfiguredServer) -> None:
    where = f"127.0.0.1:{guarded.port}"
    good = await connect(Access([f"nats://all:p@{where}"]), "web", "test")
    await good.close()
    for who in ("", "all:wrong@"):
        with pytest.raises(EngineRefusedError, match=r"(?i)authorization"):
            await connect(Access([f"nats://{who}{where}"]), "web", "test")
    with pytest.raises(EngineRefusedError, match=r"(?i)permissions violation|\$JS\.API"):
        await connect(Access([f"nats://none:p@{where}"]), "web", "test")


async def test_servers_without_a_leader_are_away_and_one_without_jetstream_is_set_up_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "ELECTION", 2.0)
    one = Server(tmp_path)
    peers = free_ports(2)
    alone = f"""
cluster {{ name: c, listen: "127.0.0.1:{peers[0]}", routes: ["nats-route://127.0.0.1:{peers[1]}"] }}
server_name: one
"""
    for is_on, error, words in [
        (True, EngineAwayError, "no leader: more than half of its servers must run"),
        (False, EngineRefusedError, "turn it on"),
    ]:
        server = ConfiguredServer(one, alone if is_on else "", jetstream=is_on)
        await asyncio.to_thread(server.start)
        try:
            with pytest.raises(error, match=words) as told:
                await connect(Access([one.url]), "web", "test")
            assert type(told.value) is error
        finally:
            await asyncio.to_thread(server.stop)


def test_every_part_has_its_facts() -> None:
    parts = {name for name in dir(Names) if not name.startswith("_")}
    listed = {fact.split()[1].partition(".")[0] for fact in FACTS}
    assert {part.removesuffix("_bucket").removesuffix("_stream") for part in parts} == listed
