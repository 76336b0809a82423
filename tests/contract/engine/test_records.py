"""`RecordStream`: numbers, keys, what is forgotten."""

import asyncio

import pytest
from tests.contract.engine.worlds import World, eventually

from gossamer.engine import Engine, RecordStream
from gossamer.errors import EngineAwayError, EngineEmptyError


@pytest.fixture
async def events(engine: Engine) -> RecordStream:
    one = engine.records("events")
    await one.make(replicas=1, first=1)
    return one


async def test_numbered_in_one_order(events: RecordStream, world: World) -> None:
    other = (await world.line()).records("events")
    numbers = [await (events, other)[n % 2].append(b"%d" % n, f"key {n}") for n in range(10)]
    assert numbers == list(range(1, 11))
    assert await other.bounds() == (1, 10)
    assert await other.read(3, 5) == [(3, b"2"), (4, b"3"), (5, b"4")]
    assert await events.read(10, 12) == [(10, b"9")]


async def test_a_key_is_kept_once(events: RecordStream, world: World) -> None:
    other = (await world.line()).records("events")
    first = await events.append(b"heard by one", "key")
    assert await other.append(b"heard by another", "key") == first
    assert await events.bounds() == (first, first)
    assert await events.read(first, first) == [(first, b"heard by one")]


async def test_numbers_go_on_where_they_are_told_to(engine: Engine) -> None:
    audit = engine.records("audit")
    await audit.make(replicas=1, first=42)
    first, last = await audit.bounds()
    assert last == 41
    assert first in {41, 42}
    assert await audit.append(b"one", "a") == 42
    await audit.make(replicas=1, first=1)
    assert await audit.bounds() == (42, 42)


async def test_when_it_is_full_the_oldest_go(events: RecordStream) -> None:
    body = bytes(4 << 20)
    numbers = await asyncio.gather(*(events.append(body, f"{n}") for n in range(10)))
    first, last = await events.bounds()
    assert last == max(numbers) == 10
    assert first > 1
    assert [number for number, _body in await events.read(1, 10)] == list(range(first, 11))


async def test_a_stream_that_is_not_there(engine: Engine, world: World) -> None:
    events = engine.records("events")
    for call in (events.bounds(), events.append(b"", "key"), events.read(1, 1)):
        with pytest.raises(EngineEmptyError):
            await call
    await events.make(replicas=1, first=1)
    await events.append(b"", "key")
    await world.stop()
    with pytest.raises(EngineAwayError):
        await events.append(b"x", "other")
    await world.wipe()
    await world.start()

    async def empty() -> bool:
        try:
            await events.bounds()
        except EngineEmptyError:
            return True
        return False

    await eventually(empty, "the engine to say that the stream is gone")
