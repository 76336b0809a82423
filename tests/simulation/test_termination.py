"""`Termination`: a crawl is over when all rest, twice; and every reason why it is not."""

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from gossamer.clock import SettableClock
from gossamer.cluster.assignment import Assignment, new_assignment, rebalance
from gossamer.cluster.messages import NodeStatus, Register, encode
from gossamer.cluster.summary import NOTHING
from gossamer.control.leader.membership import FRESH, Membership
from gossamer.control.leader.termination import Termination
from gossamer.engine import Engine, LinkStream
from gossamer.model.progress import Activity

IDLE = msgspec.structs.replace(NOTHING, activity=Activity.FINISHED)


class Resting:
    """Two nodes that have nothing to do, and say so again and again."""

    def __init__(self, membership: Membership, stream: LinkStream, clock: SettableClock) -> None:
        self.membership = membership
        self.stream = stream
        self.clock = clock
        self.value = rebalance(new_assignment(4), {"a", "b"})
        self.termination = Termination(membership, stream)
        self.silent: set[str] = set()

    async def look(self, **more: Any) -> bool:
        """Half a second later; `more` is what node a says of itself."""
        await asyncio.sleep(0.5)
        last = (await self.stream.state()).last
        for name in sorted({"a", "b"} - self.silent):
            usual: dict[str, Any] = {
                "node": name, "incarnation": "x", "time": self.clock.now(), "started": 0.0,
                "state": "running", "progress": IDLE, "map_epoch": self.value.epoch,
                "partitions": [], "read_to": last,
            }  # fmt: skip
            status = NodeStatus(**(usual | (more if name == "a" else {})))
            self.membership.note_status(f"web.status.{name}", encode(status))
        return await self.termination.reached(self.value)


@pytest.fixture
async def resting(engine: Engine, clock: SettableClock) -> Resting:
    stream, bucket = engine.links(), engine.bucket("web_nodes")
    await stream.make(replicas=1, most_bytes=1 << 20)
    await stream.publish(1, b"a link")
    await bucket.make(1)
    membership = Membership(bucket, clock)
    for name in ("a", "b"):
        record = Register(node=name, incarnation="x", time=0.0)
        await bucket.create(name, encode(record))
    await membership.refresh()
    return Resting(membership, stream, clock)


async def test_twice_the_same_is_the_end(resting: Resting) -> None:
    assert [await resting.look() for _ in range(3)] == [False, True, True]
    resting.termination.restart()
    assert [await resting.look() for _ in range(2)] == [False, True]


async def test_the_same_status_again_is_not_twice(resting: Resting) -> None:
    assert not await resting.look()
    assert not await resting.termination.reached(resting.value)
    resting.silent = {"b"}
    assert not await resting.look()


@pytest.mark.parametrize(
    "more",
    [
        {"progress": NOTHING},
        {"progress": None},
        {"progress": msgspec.structs.replace(IDLE, in_flight=1)},
        {"progress": msgspec.structs.replace(IDLE, visits=7)},
        {"progress": msgspec.structs.replace(IDLE, urls_seen=7)},
        {"outbox": 1},
        {"map_epoch": 0},
        {"read_to": 0},
        {"incarnation": "another"},
    ],
    ids=lambda more: next(iter(more)),
)
async def test_one_that_works_is_not_the_end(resting: Resting, more: dict[str, Any]) -> None:
    assert not await resting.look()
    assert not await resting.look(**more)
    # And then it is looked at anew, from the beginning.
    assert not await resting.look()
    assert await resting.look()


async def test_a_silent_node_is_not_the_end(resting: Resting) -> None:
    assert not await resting.look()
    resting.silent = {"a"}
    await asyncio.sleep(FRESH)
    assert not await resting.look()


@pytest.mark.parametrize(
    "change",
    [
        lambda value: rebalance(value, {"a", "b", "c"}),
        lambda value: new_assignment(len(value.rows)),
    ],
    ids=["moving", "ownerless"],
)
async def test_partitions_without_an_owner_or_on_their_way(
    resting: Resting, change: Callable[[Assignment], Assignment]
) -> None:
    assert not await resting.look()
    settled, resting.value = resting.value, change(resting.value)
    assert not await resting.look()
    resting.value = settled
    assert not await resting.look()
    assert await resting.look()


async def test_a_link_between_two_looks(resting: Resting) -> None:
    assert not await resting.look()
    await resting.stream.publish(2, b"another")
    assert not await resting.look()
    assert await resting.look()
