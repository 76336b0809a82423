"""`Rebalance` with `Membership`: who is waited for, who is taken out, and when."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from gossamer.clock import SettableClock
from gossamer.cluster.assignment import encode_assignment, new_assignment
from gossamer.cluster.crawl_state import CrawlState
from gossamer.cluster.lease import Lease
from gossamer.cluster.messages import Evicted, Shutdown
from gossamer.control.leader.drain import Drain
from gossamer.control.leader.live_settings import LiveSettings
from gossamer.control.leader.membership import Membership
from gossamer.control.leader.node_requests import NodeRequests
from gossamer.control.leader.rebalance import SETTLE, Rebalance
from gossamer.engine import Engine
from gossamer.errors import EngineError
from gossamer.settings import load

LEASE = 10.0
REJOIN = 30.0
SETTINGS = {"partitions": 8, "cluster.lease": f"{LEASE}s", "cluster.rejoin": f"{REJOIN}s"}


class Ruling:
    """A control node that only looks who is there, and the nodes' leases."""

    def __init__(self, engine: Engine, clock: SettableClock, expect: int) -> None:
        self.clock = clock
        self.state = CrawlState(engine)
        self.membership = Membership(self.state.nodes, clock)
        settings = LiveSettings(self.state, load(None, SETTINGS))
        requests = NodeRequests(engine, self.membership)
        self.rebalance = Rebalance(
            self.state,
            membership=self.membership,
            drain=Drain(self.state, membership=self.membership, requests=requests),
            settings=settings,
            expect=expect,
            note=lambda _text: None,
            clock=clock,
        )
        self.leases: dict[str, Lease] = {}

    async def begin(self) -> None:
        for bucket in (self.state.nodes, self.state.maps, self.state.crawls):
            await bucket.make(1)
        await self.state.maps.create("map", encode_assignment(new_assignment(8)))
        await self.state.read_map()

    async def join(self, name: str) -> None:
        lease = Lease(self.state.nodes, name, "x", LEASE, clock=self.clock)
        assert await lease.take()
        self.leases[name] = lease

    async def go_on(self, seconds: float) -> None:
        """All who live renew, and the control node looks four times a second."""
        end = self.clock.monotonic() + seconds
        while self.clock.monotonic() < end:
            await asyncio.sleep(0.25)
            for lease in self.leases.values():
                await lease.renew()
            await self.membership.follow(LEASE)
            await self.rebalance.round()

    @property
    def owners(self) -> set[str]:
        value = self.state.map
        assert value is not None
        return {row.owner for row in value.rows if row.owner}


@pytest.fixture
def ruling(engine: Engine, clock: SettableClock) -> Callable[..., Ruling]:
    return lambda expect=1: Ruling(engine, clock, expect)


async def test_the_first_assignment_waits_for_a_second_node(
    ruling: Callable[..., Ruling],
) -> None:
    one = ruling()
    await one.begin()
    await one.go_on(10.0)
    assert one.owners == set()
    await one.join("a")
    await one.go_on(SETTLE - 1.0)
    assert one.owners == set()
    await one.join("b")
    await one.go_on(2.0)
    assert one.owners == {"a", "b"}


async def test_the_first_assignment_waits_for_as_many_as_are_expected(
    ruling: Callable[..., Ruling],
) -> None:
    one = ruling(expect=3)
    await one.begin()
    for name in ("a", "b"):
        await one.join(name)
    await one.go_on(LEASE - 1.0)
    assert one.owners == set()
    await one.join("c")
    await one.go_on(0.5)
    assert one.owners == {"a", "b", "c"}


async def test_but_not_for_ever(ruling: Callable[..., Ruling]) -> None:
    one = ruling(expect=3)
    await one.begin()
    await one.join("a")
    await one.go_on(LEASE + 1.0)
    assert one.owners == {"a"}


async def test_who_is_silent_for_a_lease_is_taken_out_and_not_before(
    ruling: Callable[..., Ruling],
) -> None:
    one = ruling(expect=2)
    await one.begin()
    for name in ("a", "b"):
        await one.join(name)
    await one.go_on(3.0)
    lost = one.leases.pop("b")
    await one.go_on(LEASE - 1.0)
    assert one.owners == {"a", "b"}
    await one.go_on(2.0)
    assert one.owners == {"a"}
    record = one.membership.nodes["b"].record
    assert isinstance(record, Evicted)
    assert record.reason.startswith("silent for 10.")
    with pytest.raises(EngineError):
        await one.state.nodes.create("b", b"")
    with pytest.raises(Exception, match="taken out"):
        await lost.renew()


async def test_who_was_never_seen_to_live_has_time_to_come_back(
    ruling: Callable[..., Ruling],
) -> None:
    """After a power cut the control node may be the first that is there."""
    before = ruling(expect=2)
    await before.begin()
    for name in ("a", "b"):
        await before.join(name)
    await before.go_on(3.0)
    await asyncio.sleep(1000.0)
    after = ruling(expect=2)
    await after.state.read_map()
    await after.go_on(REJOIN - 2.0)
    assert after.owners == {"a", "b"}
    after.leases = {"a": before.leases["a"]}
    await after.go_on(4.0)
    assert after.owners == {"a"}


async def test_who_leaves_and_keeps_its_state_is_waited_for(ruling: Callable[..., Ruling]) -> None:
    one = ruling(expect=2)
    await one.begin()
    for name in ("a", "b"):
        await one.join(name)
    await one.go_on(3.0)
    await one.leases.pop("b").give_up(keeps=True)
    await one.go_on(REJOIN - 1.0)
    assert one.owners == {"a", "b"}
    await one.join("b")
    await one.go_on(2 * REJOIN)
    assert one.owners == {"a", "b"}
    await one.leases.pop("b").give_up(keeps=False)
    await one.go_on(2.0)
    assert one.owners == {"a"}


async def test_a_renewal_at_the_last_moment(ruling: Callable[..., Ruling], tmp_path: Path) -> None:
    one = ruling(expect=2)
    await one.begin()
    for name in ("a", "b"):
        await one.join(name)
    await one.go_on(3.0)
    late = one.leases.pop("b")
    await one.go_on(LEASE - 0.5)
    # It renews after the control node has read its key, and before that is overwritten.
    known = one.membership.nodes["b"]
    await late.renew()
    assert not await one.membership.take_out(known, "silent")
    one.leases["b"] = late
    await one.go_on(LEASE)
    assert one.owners == {"a", "b"}


async def test_while_all_end_nobody_gets_anything(ruling: Callable[..., Ruling]) -> None:
    one = ruling(expect=2)
    await one.begin()
    for name in ("a", "b"):
        await one.join(name)
    await one.go_on(3.0)
    one.state.wanted = Shutdown(reason="done", done=True)
    await one.leases.pop("b").give_up(keeps=False)
    await one.go_on(2 * LEASE)
    assert one.owners == {"a", "b"}
