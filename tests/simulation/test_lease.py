"""Leases: who may renew, what the fence is, who is taken out; and which version may speak."""

import asyncio

import pytest

from gossamer.clock import SettableClock
from gossamer.cluster.lease import Lease
from gossamer.cluster.messages import (
    MESSAGES,
    PROTOCOL,
    Heartbeat,
    Leader,
    Register,
    decode,
    decode_node_record,
    encode,
)
from gossamer.control.leader.lease import LeaderLease
from gossamer.control.leader.membership import Membership
from gossamer.engine import Bucket, Engine
from gossamer.engine.memory import MemoryServer
from gossamer.errors import EngineError, EvictedError, VersionError


@pytest.fixture
async def bucket(engine: Engine) -> Bucket:
    one = engine.bucket(engine.names.nodes_bucket)
    await one.make(1)
    return one


def lease(bucket: Bucket, clock: SettableClock, incarnation: str = "x") -> Lease:
    return Lease(bucket, "a", incarnation, 8.0, clock=clock)


async def test_the_fence_is_three_quarters_after_sending(
    bucket: Bucket, clock: SettableClock
) -> None:
    one = lease(bucket, clock)
    assert await one.take()
    await one.renew()
    # Without a map it would be a lease of nothing.
    assert one.left == 0
    one.checked = True
    await one.renew()
    assert one.fence == clock.micros() + 6_000_000
    clock.advance(2.0)
    assert one.left == 4.0
    await one.renew()
    assert one.left == 6.0


async def test_a_restart_on_the_same_disk_takes_its_lease_back(
    bucket: Bucket, clock: SettableClock
) -> None:
    assert await lease(bucket, clock).take()
    again = lease(bucket, clock)
    assert await again.take()
    await again.renew()


async def test_a_name_has_one_node(bucket: Bucket, clock: SettableClock) -> None:
    first = lease(bucket, clock)
    assert await first.take()
    assert not await lease(bucket, clock, "other").take()
    await first.give_up(keeps=True)
    assert await lease(bucket, clock, "other").take()
    with pytest.raises(EvictedError):
        await first.renew()


async def test_who_is_taken_out_cannot_renew(bucket: Bucket, clock: SettableClock) -> None:
    one = lease(bucket, clock)
    await one.take()
    one.checked = True
    await one.renew()
    roster = Membership(bucket)
    await roster.refresh()
    known = roster.nodes["a"]
    await one.renew()
    assert not await roster.take_out(known, "too late"), "it renewed meanwhile"
    await roster.refresh()
    assert await roster.take_out(known, "silent")
    fence = one.fence
    with pytest.raises(EvictedError, match="silent"):
        await one.renew()
    assert one.fence == fence
    with pytest.raises(EvictedError):
        await lease(bucket, clock).take()
    assert await lease(bucket, clock, "new").take()


async def test_a_renewal_whose_answer_was_lost(bucket: Bucket, clock: SettableClock) -> None:
    one = lease(bucket, clock)
    await one.take()
    one.checked = True
    await one.renew()
    fence = one.fence
    # The engine took it, but we never heard.
    word = Heartbeat(node="a", incarnation="x", beat=99, time=0.0)
    entry = await bucket.get("a")
    assert entry is not None
    await bucket.update("a", encode(word), entry.revision)
    clock.advance(1.0)
    await one.renew()
    assert one.fence == fence, "refused: the fence stands"
    await one.renew()
    assert one.fence == clock.micros() + 6_000_000


async def make_again(bucket: Bucket) -> None:
    async with asyncio.timeout(60):
        while True:
            try:
                await bucket.make(1)
                break
            except EngineError:
                await asyncio.sleep(0.02)


async def test_a_wiped_engine_takes_no_lease_away(
    bucket: Bucket, server: MemoryServer, clock: SettableClock
) -> None:
    one = lease(bucket, clock)
    await one.take()
    one.checked = True
    await one.renew()
    server.wipe()
    await make_again(bucket)
    fence = one.fence
    for _ in range(3):
        await one.renew()
    assert one.fence == fence, "the map must be read first"
    one.checked = True
    clock.advance(1e-06)
    await one.renew()
    assert one.fence == clock.micros() + 6_000_000


async def test_taken_out_by_who_never_knew_it(
    bucket: Bucket, server: MemoryServer, clock: SettableClock
) -> None:
    """After an engine was wiped: the control node cannot name the incarnation, and means it."""
    one = lease(bucket, clock)
    await one.take()
    assert await bucket.get("a") is not None
    server.wipe()
    await make_again(bucket)
    # Its revision is gone with the engine.
    await one.renew()
    assert one._revision is None
    roster = Membership(bucket)
    assert await roster.take_out(roster.expect("a"), "silent")
    with pytest.raises(EvictedError, match="silent"):
        await one.renew()
    # Who has never been here is not meant.
    assert await lease(bucket, clock, "new").take()


async def test_one_control_node_leads(engine: Engine, clock: SettableClock) -> None:
    bucket = engine.bucket(engine.names.crawl_bucket)
    await bucket.make(1)
    first, second = (LeaderLease(bucket, name, 60.0, clock) for name in ("c1", "c2"))
    await first.round()
    await second.round()
    assert (first.leading, second.leading) == (True, False)
    await first.give_up()
    await second.round()
    assert (first.leading, second.leading) == (False, True)
    # Silent for a lease, by the other's clock.
    await first.round()
    assert not first.leading
    clock.advance(60.0)
    await first.round()
    assert first.leading


def test_another_version_is_refused_with_a_clear_error() -> None:
    for version, word in ((PROTOCOL + 1, "newer"), (PROTOCOL - 1, "older")):
        foreign = Leader(version=version, control="c", beat=1, time=0.0)
        with pytest.raises(VersionError, match=f"version {version}.*{word}"):
            decode(encode(foreign), Leader, "the control node")
    for junk in (b"", b"[]", b"\xff", b'{"version":2}', b'{"version":2,"type":"nobody"}'):
        with pytest.raises(VersionError, match="node a"):
            decode_node_record(junk, "a")


def test_every_message_has_its_own_tag_and_the_version() -> None:
    tags = {kind.__struct_config__.tag for kind in MESSAGES}
    assert len(tags) == len(MESSAGES)
    assert tags >= {
        "register", "unregister", "heartbeat", "pause", "paused", "resume", "resumed", "shutdown",
        "status",
    }  # fmt: skip
    assert b'"version":3' in encode(Register(node="a", incarnation="x", time=0.0))


async def test_a_node_of_another_version_is_listed_as_refused(
    bucket: Bucket, clock: SettableClock
) -> None:
    await bucket.put("b", encode(Register(version=9, node="b", incarnation="x", time=0.0)))
    roster = Membership(bucket)
    await roster.refresh()
    assert "version 9" in roster.refused["b"]
    assert "b" not in roster.nodes
