"""Faults of the engine in memory that a real one shows only in large: each does what it says."""

import asyncio

import pytest
from tests.contract.engine.worlds import rows

from gossamer.engine import Engine, LinkStream, memory
from gossamer.engine.memory import MemoryServer
from gossamer.engine.ports import ACK_TIMEOUT, ANSWER_TIMEOUT, IDLE_READER, KEY_WINDOW
from gossamer.errors import ConflictError, EngineAwayError, EngineFullError


def now() -> float:
    return asyncio.get_running_loop().time()


@pytest.fixture
async def stream(engine: Engine) -> LinkStream:
    one = engine.links()
    await one.make(replicas=1, most_bytes=1 << 20)
    return one


async def test_slow(server: MemoryServer, engine: Engine) -> None:
    bucket = engine.bucket("web_map")
    await bucket.make(1)

    async def answer(data: bytes) -> bytes:
        return data

    await engine.serve("web.node.a", answer)
    server.faults.delay = 2.0
    begun = now()
    revision = await bucket.put("map", b"x")
    assert now() - begun == pytest.approx(2.0, abs=1e-3)
    assert await engine.request("web.node.a", b"?") == b"?"
    assert now() - begun == pytest.approx(4.0, abs=1e-3)
    # What is slower than anybody waits is done all the same, but nobody hears of it.
    server.faults.delay = 2 * ANSWER_TIMEOUT - 1
    with pytest.raises(EngineAwayError, match="no answer in time"):
        await bucket.put("map", b"y")
    server.faults.delay = 0.0
    entry = await bucket.get("map")
    assert entry is not None
    assert (entry.value, entry.revision > revision) == (b"y", True)


async def test_choosing_a_leader(server: MemoryServer, engine: Engine, stream: LinkStream) -> None:
    bucket = engine.bucket("web_map")
    await bucket.make(1)
    reader = await stream.reader({1: (0, 0)})
    heard: list[bytes] = []
    await engine.listen("web.status.*", lambda _subject, data: heard.append(data))
    server.faults.electing = True
    begun = now()
    with pytest.raises(EngineAwayError, match="read web_map/map: no answer in time"):
        await bucket.get("map")
    assert now() - begun == pytest.approx(ANSWER_TIMEOUT, abs=1e-3)
    begun = now()
    verdicts = await stream.sent([await stream.send(1, b"x")])
    assert [type(one) for one in verdicts] == [EngineAwayError]
    assert now() - begun == pytest.approx(ACK_TIMEOUT, abs=1e-3)
    assert await reader.read() == []
    await engine.publish("web.status.a", b"passes")
    await asyncio.sleep(0.1)
    assert heard == [b"passes"]
    server.faults.electing = False
    assert await stream.publish(1, b"y") == 1
    assert await rows(reader, 1) == [(1, b"y")]


async def test_full(server: MemoryServer, engine: Engine, stream: LinkStream) -> None:
    bucket = engine.bucket("web_map")
    await bucket.make(1)
    server.faults.full = True
    for call in (bucket.put("map", b""), stream.publish(1, b"x"), engine.bucket("new").make(1)):
        with pytest.raises(EngineFullError):
            await call
    verdicts = await stream.sent([await stream.send(1, b"x")])
    assert [type(one) for one in verdicts] == [EngineFullError]
    assert await bucket.get("map") is None
    server.faults.full = False
    assert await stream.publish(1, b"x") == 1


async def test_lost_answers(server: MemoryServer, engine: Engine, stream: LinkStream) -> None:
    bucket = engine.bucket("web_map")
    await bucket.make(1)
    server.faults.lose_answers = 1
    with pytest.raises(EngineAwayError, match="no answer in time"):
        await bucket.create("map", b"x")
    with pytest.raises(ConflictError):
        await bucket.create("map", b"x")
    server.faults.lose_answers = 1
    verdicts = await stream.sent([await stream.send(1, b"1"), await stream.send(1, b"2")])
    assert [type(one) for one in verdicts] == [EngineAwayError, type(None)]
    assert (await stream.state()).messages == 2


async def test_links_kept_twice(server: MemoryServer, stream: LinkStream) -> None:
    server.faults.twice = True
    assert await stream.sent([await stream.send(1, b"x")]) == [None]
    reader = await stream.reader({1: (0, 0)})
    assert await rows(reader, 2) == [(1, b"x"), (1, b"x")]


async def test_a_lost_tail(server: MemoryServer, engine: Engine, stream: LinkStream) -> None:
    for n in range(5):
        await stream.publish(1, b"%d" % n)
    server.lose_tail(engine.names.links_stream, 2)
    assert not engine.connected
    await asyncio.sleep(1.0)
    state = await stream.state()
    assert (state.last, state.messages) == (3, 3)
    assert await stream.publish(1, b"new") == 4


async def test_a_reader_that_does_not_ask_is_forgotten(stream: LinkStream) -> None:
    reader = await stream.reader({1: (0, 0)})
    await asyncio.sleep(IDLE_READER - 1)
    assert await reader.read() == []
    await asyncio.sleep(IDLE_READER + 1)
    with pytest.raises(EngineAwayError):
        await reader.read()
    assert reader.broken


async def test_a_key_is_known_for_a_while(engine: Engine) -> None:
    events = engine.records("events")
    await events.make(replicas=1, first=1)
    assert await events.append(b"a", "key") == 1
    await asyncio.sleep(KEY_WINDOW - 1)
    assert await events.append(b"b", "key") == 1
    await asyncio.sleep(2.0)
    assert await events.append(b"c", "key") == 2


async def test_who_comes_while_it_is_away(server: MemoryServer) -> None:
    server.stop()
    with pytest.raises(EngineAwayError, match="no engine answers"):
        await memory.connect(server, "web", "test")
    server.start()
    assert (await memory.connect(server, "web", "test")).connected


async def test_what_is_under_way_when_the_line_breaks(server: MemoryServer) -> None:
    line = await memory.connect(server, "web", "test")
    bucket = line.bucket("web_map")
    await bucket.make(1)
    server.faults.delay = 1.0
    writing = asyncio.create_task(bucket.put("map", b"x"))
    asking = asyncio.create_task(line.request("web.node.a", b""))
    await asyncio.sleep(0.1)
    line.cut()
    for task in (writing, asking):
        with pytest.raises(EngineAwayError, match="no answer in time"):
            await task
