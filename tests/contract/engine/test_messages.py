"""Requests, answers and messages; and which error says what."""

import asyncio
from collections.abc import Callable

import pytest
from tests.contract.engine.worlds import World, eventually

from gossamer.engine import Engine
from gossamer.errors import EngineAwayError, EngineEmptyError, EngineError, NoResponderError


async def test_questions_and_answers(engine: Engine, world: World) -> None:
    async def twice(data: bytes) -> bytes:
        return data * 2

    far = await world.line()
    stop = await far.serve("web.node.a", twice)
    assert await engine.request("web.node.a", b"x") == b"xx"
    assert await far.request("web.node.a", b"") == b""
    await stop()
    # The server has heard of that when it has answered what was asked on the same line after it.
    assert await _there(far)
    with pytest.raises(NoResponderError, match=r"ask web\.node\.a: nobody answers"):
        await engine.request("web.node.a", b"x")


async def test_who_leads_answers(engine: Engine, world: World) -> None:
    """Of several that are asked, those that have no answer keep silent."""

    async def silent(_data: bytes) -> None:
        return None

    async def leader(_data: bytes) -> bytes:
        return b"mine"

    for _ in range(2):
        await (await world.line()).serve("web.control", silent)
    with pytest.raises(EngineAwayError, match="no answer in time"):
        await engine.request("web.control", b"", 0.2)
    await (await world.line()).serve("web.control", leader)
    assert await engine.request("web.control", b"") == b"mine"


async def test_a_slow_answer_holds_nobody_up(engine: Engine, world: World) -> None:
    let_go = asyncio.Event()

    async def answer(data: bytes) -> bytes:
        if data == b"slow":
            await let_go.wait()
        return data

    await (await world.line()).serve("web.node.a", answer)
    slow = asyncio.create_task(engine.request("web.node.a", b"slow", 60.0))
    assert await engine.request("web.node.a", b"fast") == b"fast"
    assert not slow.done()
    let_go.set()
    assert await slow == b"slow"


async def test_messages_to_all_who_listen(engine: Engine, world: World) -> None:
    heard: list[list[tuple[str, bytes]]] = [[], [], []]

    def into(kept: list[tuple[str, bytes]]) -> Callable[[str, bytes], None]:
        return lambda subject, data: kept.append((subject, data))

    patterns = ("web.status.*", "web.>", "web.status.b")
    far = await world.line()
    ends = [
        await far.listen(pattern, into(kept)) for pattern, kept in zip(patterns, heard, strict=True)
    ]
    sent = [("web.status.a", b"1"), ("web.status.b", b"2"), ("web.event.b", b"3")]
    for subject, data in (*sent, ("other.status.b", b"4")):
        await engine.publish(subject, data)
    await engine.publish("web.status.b", b"end")
    end = ("web.status.b", b"end")

    async def ended() -> bool:
        # Each has its own pace, and its own order.
        return all(kept[-1:] == [end] for kept in heard)

    await eventually(ended, "the last message")
    assert heard == [[*sent[:2], end], [*sent, end], [sent[1], end]]
    await ends[0]()
    assert await _there(far)
    await engine.publish("web.status.b", b"5")
    await eventually(_has(heard[2], 3), "the message")
    assert len(heard[0]) == 3


def _has(kept: list[tuple[str, bytes]], count: int):
    async def check() -> bool:
        return len(kept) == count

    return check


async def _there(line: Engine) -> bool:
    """All that this line was asked for before has been done."""
    bucket = line.bucket("web_crawl")
    await bucket.make(1)
    return await bucket.get("nothing") is None


async def test_nobody_listens(engine: Engine) -> None:
    await engine.publish("web.status.a", b"to nobody")
    with pytest.raises(EngineError, match="max_payload"):
        await engine.publish("web.status.a", bytes(9 << 20))


async def test_while_the_engine_is_away_everything_fails_at_once(
    engine: Engine, world: World
) -> None:
    async def answer(_data: bytes) -> bytes:
        return b"there"

    far = await world.line()
    await far.serve("web.node.a", answer)
    bucket, stream, records = engine.bucket("web_map"), engine.links(), engine.records("events")
    await bucket.make(1)
    await world.stop()

    async def down() -> bool:
        return not engine.connected

    await eventually(down, "the line to be down")
    calls = [
        engine.publish("web.status.a", b""),
        engine.request("web.node.a", b""),
        bucket.get("map"),
        bucket.put("map", b""),
        bucket.keys(),
        bucket.exists(),
        bucket.make(1),
        stream.state(),
        stream.send(1, b""),
        stream.publish(1, b""),
        stream.make(replicas=1, most_bytes=1),
        records.append(b"", "key"),
        records.bounds(),
    ]
    async with asyncio.timeout(4):
        for call in calls:
            with pytest.raises(EngineAwayError):
                await call
    await world.start()

    async def answered() -> bool:
        return await engine.request("web.node.a", b"", 1.0) == b"there"

    await eventually(answered, "both lines to come back by themselves")
    assert engine.connections == 2


async def test_a_wiped_engine_is_told_apart_from_a_silent_one(engine: Engine, world: World) -> None:
    stream, bucket = engine.links(), engine.bucket("web_map")
    before = await stream.make(replicas=1, most_bytes=1 << 20)
    await bucket.make(1)
    await bucket.put("map", b"lost")
    await world.stop()
    await world.wipe()
    with pytest.raises(EngineAwayError):
        await stream.state()
    await world.start()

    async def empty() -> bool:
        try:
            await stream.state()
        except EngineEmptyError:
            return True
        return False

    await eventually(empty, "the engine to say that the stream is gone")
    for call in (bucket.get("map"), bucket.put("map", b""), stream.publish(1, b"")):
        with pytest.raises(EngineEmptyError):
            await call
    assert not await bucket.exists()
    assert await stream.make(replicas=1, most_bytes=1 << 20) != before
    await bucket.make(1)
    assert await bucket.get("map") is None


async def test_a_closed_line(engine: Engine, world: World) -> None:
    one = await world.line()
    await one.close()
    assert not one.connected
    with pytest.raises(EngineAwayError):
        await one.request("web.node.a", b"")
    await one.close()
