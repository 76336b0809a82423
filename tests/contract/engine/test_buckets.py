"""`Bucket`: compare-and-set, conflicts, hints."""

import asyncio

import pytest
from tests.contract.engine.worlds import World, eventually

from gossamer.engine import Bucket, Engine
from gossamer.errors import ConflictError, EngineAwayError, EngineEmptyError, EngineError


async def test_compare_and_set(engine: Engine) -> None:
    bucket = engine.bucket("web_map")
    assert bucket.name == "web_map"
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
    assert (entry.key, entry.value, entry.revision) == ("map", b"two", second)
    assert await bucket.keys() == ["map"]
    with pytest.raises(ConflictError):
        await bucket.delete("map", first)
    await bucket.delete("map", second)
    assert await bucket.get("map") is None


async def test_nothing_is_there_before_it_is_made(engine: Engine) -> None:
    bucket = engine.bucket("web_map")
    assert not await bucket.exists()
    calls = [
        bucket.get("map"),
        bucket.keys(),
        bucket.create("map", b""),
        bucket.put("map", b""),
        bucket.update("map", b"", 1),
        bucket.delete("map", 1),
    ]
    for call in calls:
        with pytest.raises(EngineEmptyError):
            await call
    await bucket.make(1)
    assert await bucket.exists()
    assert await bucket.keys() == []


async def test_revisions_grow_over_all_keys(bucket: Bucket) -> None:
    revisions = [await bucket.put(key, b"") for key in ("a", "b", "a", "c")]
    assert revisions == sorted(set(revisions))
    assert await bucket.keys() == ["a", "b", "c"]


async def test_change_creates_or_replaces(bucket: Bucket) -> None:
    first = await bucket.change("key", b"1", None)
    with pytest.raises(ConflictError):
        await bucket.change("key", b"2", None)
    await bucket.change("key", b"2", first)
    with pytest.raises(ConflictError):
        await bucket.change("key", b"3", first)
    with pytest.raises(ConflictError):
        await bucket.change("other", b"3", first)


async def test_a_deleted_key_can_be_made_again(bucket: Bucket) -> None:
    first = await bucket.create("key", b"old")
    await bucket.delete("key", first)
    with pytest.raises(ConflictError):
        await bucket.update("key", b"late", first)
    second = await bucket.create("key", b"new")
    assert second > first
    entry = await bucket.get("key")
    assert entry is not None
    assert (entry.value, entry.revision) == (b"new", second)
    assert await bucket.keys() == ["key"]


async def test_one_of_many_wins(bucket: Bucket) -> None:
    revision = await bucket.create("map", b"0")
    results = await asyncio.gather(
        *(bucket.update("map", str(n).encode(), revision) for n in range(20)),
        return_exceptions=True,
    )
    assert sum(isinstance(result, int) for result in results) == 1
    assert sum(isinstance(result, ConflictError) for result in results) == 19


async def test_one_of_many_creates(bucket: Bucket, world: World) -> None:
    lines = [await world.line() for _ in range(4)]
    results = await asyncio.gather(
        *(line.bucket("web_map").create("leader", b"%d" % n) for n, line in enumerate(lines)),
        return_exceptions=True,
    )
    winner = [n for n, result in enumerate(results) if isinstance(result, int)]
    assert len(winner) == 1
    entry = await bucket.get("leader")
    assert entry is not None
    assert entry.value == b"%d" % winner[0]


async def test_buckets_and_crawls_are_apart(bucket: Bucket, engine: Engine) -> None:
    other = engine.bucket("web_nodes")
    await other.make(1)
    await bucket.put("key", b"here")
    assert await other.get("key") is None
    assert await other.keys() == []


async def test_values_of_any_bytes_and_sizes(bucket: Bucket) -> None:
    for value in (b"", bytes(range(256)), bytes(500_000)):
        await bucket.put("key", value)
        entry = await bucket.get("key")
        assert entry is not None
        assert entry.value == value
    with pytest.raises(EngineError, match="max_payload"):
        await bucket.put("key", bytes(9 << 20))


async def test_hints(bucket: Bucket, world: World) -> None:
    hinted, other = asyncio.Event(), asyncio.Event()
    end = await bucket.hints(hinted.set)
    await bucket.hints(other.set, "map")
    far = (await world.line()).bucket("web_map")
    revision = await far.put("map", b"x")
    await asyncio.wait_for(hinted.wait(), 30)
    hinted.clear()
    # A try that comes too late is heard of too.
    with pytest.raises(ConflictError):
        await far.update("map", b"y", revision + 7)
    await asyncio.wait_for(hinted.wait(), 30)
    assert not other.is_set()
    await end()
    hinted.clear()
    await far.put("nodes", b"z")
    await asyncio.wait_for(other.wait(), 30)
    assert not hinted.is_set()


async def test_hints_go_on_after_a_restart(bucket: Bucket, world: World) -> None:
    hinted = asyncio.Event()
    await bucket.hints(hinted.set)
    await world.stop()
    with pytest.raises(EngineAwayError):
        await bucket.put("map", b"lost")
    await world.start()
    await eventually(lambda: bucket.put("map", b"there"), "the line to come back")
    await asyncio.wait_for(hinted.wait(), 30)


async def test_what_was_acknowledged_is_there_after_a_restart(bucket: Bucket, world: World) -> None:
    revision = await bucket.create("map", b"kept")
    await world.stop()
    await world.start()
    await eventually(bucket.exists, "the line to come back")
    entry = await bucket.get("map")
    assert entry is not None
    assert (entry.value, entry.revision) == (b"kept", revision)
    assert await bucket.update("map", b"next", revision) > revision
