"""`Keeper`: partitions are held as the assignment says, and a snapshot counts only when all it knows of is safe."""

import asyncio
from pathlib import Path
from typing import cast

import msgspec
import pytest
from tests.simulation.nodes import Disk, PretendedNode, Visit
from tests.simulation.webs import PARTITIONS, make_web

from gossamer._native import Node
from gossamer.clock import SettableClock
from gossamer.cluster.archive import Copies
from gossamer.cluster.assignment import Assignment, Row, encode_assignment, new_assignment
from gossamer.cluster.crawl_state import CrawlState
from gossamer.cluster.keeper import FencedError, Keeper
from gossamer.cluster.lease import FENCE_SHARE, Lease
from gossamer.cluster.snapshots import Snapshots
from gossamer.engine import Engine, LinkStream
from gossamer.engine.memory import MemoryServer

LEASE = 8.0


class Holding:
    """Node a, with all that its keeper needs."""

    def __init__(self, engine: Engine, clock: SettableClock, place: Path) -> None:
        self.clock = clock
        self.visits: list[Visit] = []
        self.disk = Disk()
        self.node = PretendedNode("a", self.disk, make_web(40), clock, self.visits)
        self.state = CrawlState(engine)
        self.stream: LinkStream = engine.links()
        self.lease = Lease(self.state.nodes, "a", "x", LEASE, clock=clock)
        self.snapshots = Snapshots(str(place / "snapshots"), "web", clock)
        self.told: list[str] = []
        scratch = place / "scratch"
        scratch.mkdir()
        self.keeper = Keeper(
            cast("Node", self.node),
            name="a",
            view=self.state,
            lease=self.lease,
            snapshots=self.snapshots,
            copies=Copies(place, "a", None, keep=2),
            stream=self.stream,
            scratch=scratch,
            tell=lambda kind, text: self.told.append(f"{kind}: {text}"),
            clock=clock,
        )

    async def begin(self) -> None:
        for bucket in (self.state.nodes, self.state.maps, self.state.crawls):
            await bucket.make(1)
        await self.stream.make(replicas=1, most_bytes=1 << 20)
        await self.state.maps.create("map", encode_assignment(new_assignment(PARTITIONS)))
        await self.state.read_map()
        await self.lease.take()
        self.lease.checked = True
        await self.lease.renew()
        self.node.set_fence(self.lease.fence)

    async def assign(self, *owners: str, epoch: int, to: str = "") -> Assignment:
        """Partitions 0, 1 … to these owners; `to`: they move there."""
        rows = tuple(
            Row(owner, epoch, to if owner == "a" else "") if owner else Row() for owner in owners
        )
        rows += (Row(),) * (PARTITIONS - len(rows))
        await self.state.change_map(Assignment(epoch, rows))
        return Assignment(epoch, rows)

    async def receive(self, page: int) -> None:
        """A link arrives, and is stored."""
        number = await self.stream.publish(page % PARTITIONS, msgspec.json.encode([page]))
        message = (page % PARTITIONS, self.stream.identity, number, b"[%d]" % page)
        self.node.receive(self.node.generation(), [message])

    def acknowledge_all(self) -> None:
        self.node.acknowledge(list(self.disk.rows))

    async def saved(self, partition: int) -> int:
        return len(await self.snapshots.manifests(partition))


@pytest.fixture
async def holding(engine: Engine, clock: SettableClock, tmp_path: Path) -> Holding:
    one = Holding(engine, clock, tmp_path)
    await one.begin()
    return one


async def test_holds_what_the_assignment_says(holding: Holding) -> None:
    keeper = holding.keeper
    await keeper.carry_out(await holding.assign("a", "a", "b", epoch=1))
    assert keeper.held == {0: 1, 1: 1}
    assert keeper.done_epoch == 1
    # One is another's now, one was given to us anew: what we have of it is of another time.
    await keeper.carry_out(
        await holding.assign("b", "a", "a", epoch=2),
    )
    assert keeper.held == dict(holding.node.partitions()) == {1: 2, 2: 2}
    assert "gave_up: 2 partitions are not ours any more" in holding.told


async def test_a_snapshot_waits_for_the_links_of_its_pages(holding: Holding) -> None:
    await holding.keeper.carry_out(await holding.assign("a", epoch=1))
    await holding.receive(0)
    holding.node.step(0.0)
    assert len(holding.visits) == 1
    assert holding.node.outbox()[0] > 0
    saving = asyncio.create_task(holding.keeper.save_changed())
    await asyncio.sleep(2.0)
    assert not saving.done()
    assert await holding.saved(0) == 0
    assert await holding.stream.waiting() == {0: 1}
    holding.acknowledge_all()
    assert await saving == 1
    assert await holding.saved(0) == 1
    # What the snapshot covers the stream may forget.
    assert await holding.stream.waiting() == {}
    assert holding.keeper.saved_at == holding.clock.monotonic()
    assert await holding.keeper.save_changed() == 0


async def test_without_a_lease_nothing_is_published(holding: Holding) -> None:
    await holding.keeper.carry_out(await holding.assign("a", epoch=1))
    await holding.receive(0)
    await asyncio.sleep(LEASE * FENCE_SHARE)
    with pytest.raises(FencedError):
        await holding.keeper.save_changed()
    assert await holding.saved(0) == 0
    await holding.lease.renew()
    assert await holding.keeper.save_changed() == 1


async def test_given_up_between_its_cut_and_its_end(holding: Holding) -> None:
    keeper = holding.keeper
    await keeper.carry_out(await holding.assign("a", "a", epoch=1))
    for page in (0, 1):
        await holding.receive(page)
        holding.node.step(0.0)
    saving = asyncio.create_task(keeper.save_changed())
    await asyncio.sleep(1.0)
    await keeper.drop_foreign(await holding.assign("b", "a", epoch=2))
    holding.acknowledge_all()
    await saving
    # Neither is what it was when it was cut.
    assert (await holding.saved(0), await holding.saved(1)) == (0, 0)


async def test_a_hand_over(holding: Holding) -> None:
    keeper = holding.keeper
    await keeper.carry_out(await holding.assign("a", "a", epoch=1))
    await holding.receive(0)
    moving = await holding.assign("a", "a", epoch=2, to="b")
    rows = (Row("a", 1, "b"), Row("a", 1, "b"), *moving.rows[2:])
    value = Assignment(3, rows)
    await holding.state.change_map(value)
    await keeper.carry_out(value)
    now = await holding.state.read_map()
    assert now is not None
    assert [row.owner for row in now.rows[:2]] == ["b", "b"]
    assert holding.node.partitions() == []
    assert await holding.saved(0) == 1
    assert "handed_over: 2 partitions" in holding.told
    # The next owner begins with what we had.
    latest = await holding.snapshots.latest(0)
    assert latest is not None
    assert latest.position == (holding.stream.identity, 1)


async def test_a_snapshot_that_cannot_be_read_is_waited_for(
    holding: Holding, tmp_path: Path
) -> None:
    await holding.keeper.carry_out(await holding.assign("a", epoch=1))
    await holding.receive(0)
    await holding.keeper.save_changed()
    (file,) = (tmp_path / "snapshots").glob("web/partitions/00000/*.snapshot")
    whole = file.read_bytes()
    file.write_bytes(whole[:-1])
    value = await holding.assign("a", epoch=2)
    await holding.keeper.carry_out(value)
    assert holding.keeper.held == {}
    assert "snapshot" in holding.keeper.troubles[0]
    assert holding.keeper.done_epoch == 1
    file.write_bytes(whole)
    await holding.keeper.carry_out(value)
    assert (holding.keeper.held, holding.keeper.troubles) == ({0: 2}, {})
    assert holding.disk.parts[0].seen == {0}


async def test_the_stream_is_purged_later_if_not_now(
    holding: Holding, server: MemoryServer
) -> None:
    await holding.keeper.carry_out(await holding.assign("a", epoch=1))
    await holding.receive(0)
    server.faults.full = True
    assert await holding.keeper.save_changed() == 1
    server.faults.full = False
    assert await holding.stream.waiting() == {0: 1}
    await holding.receive(8)
    assert await holding.keeper.save_changed() == 1
    assert await holding.stream.waiting() == {}
