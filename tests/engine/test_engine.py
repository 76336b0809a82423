"""The line to a real nats-server: buckets, the link stream, faults of the server, clear errors."""

import asyncio
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gossamer.engine import Access, Bucket, Engine, LinkStream, Names, Server, connect
from gossamer.engine.links import LinkReader
from gossamer.engine.names import FACTS
from gossamer.errors import (
    ConflictError,
    EngineAwayError,
    EngineEmptyError,
    EngineError,
    EngineFullError,
    EngineRefusedError,
    SettingsError,
)


async def eventually(ready, what: str, seconds: float = 60.0) -> None:
    end = asyncio.get_running_loop().time() + seconds
    while True:
        try:
            if await ready():
                return
        except EngineError:
            pass
        assert asyncio.get_running_loop().time() < end, f"waited in vain: {what}"
        await asyncio.sleep(0.02)


async def rows(reader: LinkReader, count: int) -> list[tuple[int, bytes]]:
    """So many messages; one reading may give fewer of them."""
    found: list[tuple[int, bytes]] = []
    async with asyncio.timeout(30):
        while len(found) < count:
            found += [(partition, payload) for partition, _id, _seq, payload in await reader.read()]
    return found


async def test_compare_and_set(engine: Engine) -> None:
    bucket = Bucket(engine, "web_map")
    with pytest.raises(EngineEmptyError):
        await bucket.get("map")
    await bucket.make(1)
    await bucket.make(1)
    assert await bucket.get("map") is None
    first = await bucket.create("map", b"one")
    with pytest.raises(ConflictError):
        await bucket.create("map", b"two")
    second = await bucket.update("map", b"two", first)
    with pytest.raises(ConflictError):
        await bucket.update("map", b"three", first)
    entry = await bucket.get("map")
    assert entry is not None
    assert (entry.value, entry.revision) == (b"two", second)
    assert await bucket.keys() == ["map"]
    with pytest.raises(ConflictError):
        await bucket.delete("map", first)
    await bucket.delete("map", second)
    assert await bucket.get("map") is None


async def test_one_of_many_wins(engine: Engine) -> None:
    bucket = Bucket(engine, "web_map")
    await bucket.make(1)
    revision = await bucket.create("map", b"0")
    results = await asyncio.gather(
        *(bucket.update("map", str(n).encode(), revision) for n in range(20)),
        return_exceptions=True,
    )
    assert sum(isinstance(result, int) for result in results) == 1
    assert sum(isinstance(result, ConflictError) for result in results) == 19


async def test_hints(engine: Engine) -> None:
    bucket = Bucket(engine, "web_map")
    await bucket.make(1)
    hinted = asyncio.Event()
    await bucket.hints(hinted.set)
    await bucket.put("map", b"x")
    await asyncio.wait_for(hinted.wait(), 30)


async def test_links_by_partition_and_position(engine: Engine) -> None:
    stream = LinkStream(engine)
    identity = await stream.make(replicas=1, most_bytes=1 << 20)
    assert identity > 0
    assert await stream.make(replicas=1, most_bytes=1 << 20) == identity
    futures = [await stream.send(n % 3, f"{n}".encode()) for n in range(30)]
    assert await stream.sent(futures) == [None] * 30
    reader = await stream.reader({0: (identity, 10), 2: (identity + 1, 99)})
    found = await rows(reader, 16)
    # Partition 0 after sequence 10; partition 2 from its beginning: its position is of another
    # stream.
    assert [p for n, p in found if n == 0] == [b"12", b"15", b"18", b"21", b"24", b"27"]
    assert [p for n, p in found if n == 2] == [f"{n}".encode() for n in range(2, 30, 3)]
    assert await reader.drained()
    assert await reader.read() == []
    await reader.close()
    await stream.purge(0, 16)
    assert await stream.waiting() == {0: 4, 1: 10, 2: 10}
    assert (await stream.state()).last == 30


async def test_full_stream_refuses_and_forgets_nothing(engine: Engine) -> None:
    stream = LinkStream(engine)
    identity = await stream.make(replicas=1, most_bytes=20_000)
    verdicts = await stream.sent([await stream.send(1, bytes(1000)) for _ in range(40)])
    taken = verdicts.count(None)
    assert 0 < taken < 40
    assert {type(one) for one in verdicts if one is not None} == {EngineFullError}, verdicts
    with pytest.raises(EngineFullError):
        await stream.publish(1, bytes(1000))
    state = await stream.state()
    assert (state.first, state.messages) == (1, taken)
    await stream.purge(1, taken)
    assert await stream.publish(1, bytes(1000)) > taken
    reader = await stream.reader({1: (identity, taken)})
    assert await rows(reader, 1) == [(1, bytes(1000))]


async def test_a_reader_that_the_engine_forgot_says_so(engine: Engine) -> None:
    stream = LinkStream(engine)
    await stream.make(replicas=1, most_bytes=1 << 20)
    for n in range(600):
        await stream.publish(n % 3, b"%d" % n)
    reader = await stream.reader({0: (0, 0), 2: (0, 0)})
    # More than are asked for at a time, each partition in order.
    found = await rows(reader, 400)
    assert found == [(n % 3, b"%d" % n) for n in range(600) if n % 3 != 1]
    assert await reader.drained()
    await engine.stream._jsm.delete_consumer(engine.names.links_stream, reader._consumer)

    async def noticed() -> bool:
        try:
            await reader.read()
        except EngineAwayError:
            return reader.broken
        return False

    await eventually(noticed, "the reader to say that it is of no use")


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


async def test_server_restart_loses_nothing_and_reader_says_so(
    server: Server, engine: Engine
) -> None:
    stream = LinkStream(engine)
    identity = await stream.make(replicas=1, most_bytes=1 << 20)
    for n in range(5):
        await stream.publish(1, f"{n}".encode())
    reader = await stream.reader({1: (0, 0)})
    assert len(await rows(reader, 5)) == 5
    server.stop()
    with pytest.raises(EngineAwayError):
        await stream.publish(1, b"lost")
    server.start()
    await eventually(lambda: stream.publish(1, b"5"), "the line to come back")

    async def noticed() -> bool:
        return await reader.read() == [] and reader.broken

    await eventually(noticed, "the reader to see that the line was broken")
    again = await stream.reader({1: (identity, 5)})
    # Where an answer came too late it was sent again.
    assert set(await rows(again, 1)) == {(1, b"5")}


async def test_wiped_engine_is_told_apart_from_a_silent_one(server: Server, engine: Engine) -> None:
    stream, bucket = LinkStream(engine), Bucket(engine, "web_map")
    before = await stream.make(replicas=1, most_bytes=1 << 20)
    await bucket.make(1)
    server.stop()
    shutil.rmtree(server.directory / "store")
    with pytest.raises(EngineAwayError):
        await stream.state()
    server.start()

    async def empty() -> bool:
        try:
            await stream.state()
        except EngineEmptyError:
            return True
        return False

    await eventually(empty, "the engine to say that the stream is gone")
    with pytest.raises(EngineEmptyError):
        await bucket.get("map")
    assert await stream.make(replicas=1, most_bytes=1 << 20) != before


async def test_questions_and_answers(engine: Engine) -> None:
    async def twice(data: bytes) -> bytes:
        return data * 2

    stop = await engine.serve("web.node.a", twice)
    assert await engine.request("web.node.a", b"x") == b"xx"
    await stop()
    with pytest.raises(EngineAwayError, match="nobody answers"):
        await engine.request("web.node.a", b"x")


async def test_wrong_address_is_named() -> None:
    with pytest.raises(EngineAwayError, match=r"127\.0\.0\.1:1.*refused") as told:
        await connect(Access(["nats://someone:secret@127.0.0.1:1"]), "web", "test")
    assert "secret" not in str(told.value)
    with pytest.raises(SettingsError):
        await connect(Access([]), "web", "test")
    with pytest.raises(SettingsError):
        Names("a.b")


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
    server = GuardedServer(one, extra)
    server.start()
    yield server
    server.stop()


class GuardedServer:
    def __init__(self, server: Server, extra: str) -> None:
        self.port = server.port
        self._file = server.directory / "guarded.conf"
        self._file.write_text(
            f'listen: "127.0.0.1:{server.port}"\njetstream {{store_dir: "{server.directory}"}}\n'
            + extra
        )
        self._server = server

    def start(self) -> None:
        nats_server = Path(sys.executable).with_name("nats-server")
        self._process = subprocess.Popen([nats_server, "-c", self._file], stderr=subprocess.DEVNULL)
        while not self._server._answers():
            assert self._process.poll() is None

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait(10)


async def test_no_permission_is_told(guarded: GuardedServer) -> None:
    where = f"127.0.0.1:{guarded.port}"
    good = await connect(Access([f"nats://all:p@{where}"]), "web", "test")
    await good.close()
    for who in ("", "all:wrong@"):
        with pytest.raises(EngineRefusedError, match=r"(?i)authorization"):
            await connect(Access([f"nats://{who}{where}"]), "web", "test")
    with pytest.raises(EngineRefusedError, match=r"(?i)permissions violation|\$JS\.API"):
        await connect(Access([f"nats://none:p@{where}"]), "web", "test")


def test_a_server_that_cannot_start_says_why(tmp_path: Path, server: Server) -> None:
    second = Server(tmp_path / "second", port=server.port)
    second._answers = lambda: False  # type: ignore[method-assign]
    with pytest.raises(EngineError, match="does not start"):
        second.start()
    (tmp_path / "file").write_text("")
    with pytest.raises(EngineError, match="cannot write"):
        Server(tmp_path / "file" / "engine").start()


def test_every_part_has_its_facts() -> None:
    parts = {name for name in dir(Names) if not name.startswith("_")}
    listed = {fact.split()[1].partition(".")[0] for fact in FACTS}
    assert {part.removesuffix("_bucket").removesuffix("_stream") for part in parts} == listed
