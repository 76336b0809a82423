"""The list of control nodes: who is there, who is lost, and when that leaves no reserve."""

import pytest

from gossamer.clock import SettableClock
from gossamer.cluster.messages import CONTROLS, Leader
from gossamer.control.leader import standbys
from gossamer.control.leader.standbys import Standbys
from gossamer.engine import Bucket, Engine

LEASE = 9.0


class Room:
    """Control nodes that share an engine and a clock."""

    def __init__(self, bucket: Bucket, clock: SettableClock) -> None:
        self.bucket = bucket
        self.clock = clock

    def one(self, name: str) -> Standbys:
        return Standbys(self.bucket, name, LEASE, self.clock)

    async def pass_time(self, seconds: float, *present: Standbys) -> None:
        """Every third of a lease all that are present renew."""
        for _ in range(round(seconds / LEASE * 3)):
            self.clock.advance(LEASE / 3)
            for one in present:
                await one.round()


@pytest.fixture
async def room(engine: Engine, clock: SettableClock) -> Room:
    bucket = engine.bucket(engine.names.crawl_bucket)
    await bucket.make(1)
    return Room(bucket, clock)


def states(one: Standbys, leader: str) -> dict[str, str]:
    leads = Leader(control=leader, beat=1, time=0.0)
    lines = one.lines(leads, leading=one._control == leader)
    assert lines[0].control == one._control
    return {line.control: line.state for line in lines}


async def test_who_dies_is_missed_until_another_is_there(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = room.one("a"), room.one("b")
    b.url = "http://127.0.0.1:1"
    await room.pass_time(LEASE, a, b)
    assert states(a, "a") == {"a": "leads", "b": "waits"}
    assert states(b, "a") == {"b": "waits", "a": "leads"}
    assert a.lines(None, leading=True)[1].url == "http://127.0.0.1:1"
    await room.pass_time(LEASE, a)
    assert (a.missed(), a.lost("b")) == ([], False)
    await room.pass_time(3, a)
    assert a.missed() == ["b"]
    assert states(a, "a") == {"a": "leads", "b": "lost"}
    # A third one in its place, which then goes in order: that is nobody's loss.
    c = room.one("c")
    await room.pass_time(LEASE, a, c)
    assert a.missed() == []
    await c.leave()
    await room.pass_time(2 * LEASE, a)
    assert a.missed() == []
    assert states(a, "a") == {"a": "leads", "b": "lost"}
    monkeypatch.setattr(standbys, "FORGET", 6 * LEASE)
    await room.pass_time(6 * LEASE, a)
    assert states(a, "a") == {"a": "leads"}


async def test_who_dies_before_it_saw_the_other_one_twice_is_missed(room: Room) -> None:
    a, b = room.one("a"), room.one("b")
    await a.round()
    await b.round()
    await room.pass_time(3, a)
    await b.round()
    await room.pass_time(2 * LEASE, b)
    assert states(b, "b") == {"b": "leads", "a": "lost"}
    assert b.missed() == ["a"]


async def test_who_was_always_alone_is_missed_by_nobody(room: Room) -> None:
    """A control node that is killed and started again has another process, and so another name."""
    await room.pass_time(LEASE, room.one("a-1"))
    again = room.one("a-2")
    await room.pass_time(2 * LEASE, again)
    assert states(again, "a-2") == {"a-2": "leads", "a-1": "lost"}
    assert again.missed() == []
    for number in range(3, 6 + standbys.MOST_LOST):
        again = room.one(f"a-{number}")
        await room.pass_time(2 * LEASE, again)
    assert len(states(again, again._control)) == 1 + standbys.MOST_LOST


async def test_the_loss_is_known_after_a_restart(room: Room) -> None:
    a, b = room.one("a"), room.one("b")
    await room.pass_time(LEASE, a, b)
    a = room.one("a")
    await room.pass_time(2 * LEASE, a)
    assert a.missed() == ["b"]


async def test_time_without_the_engine_is_nobodys_silence(room: Room) -> None:
    a, b = room.one("a"), room.one("b")
    await room.pass_time(LEASE, a, b)
    room.clock.advance(100 * LEASE)
    await a.round()
    assert not a.lost("b")
    await room.pass_time(LEASE, a)
    assert a.missed() == ["b"]


async def test_a_wiped_engine_and_an_older_leader(room: Room) -> None:
    a, b = room.one("a"), room.one("b")
    await room.pass_time(LEASE, a, b)
    entry = await room.bucket.get(CONTROLS)
    assert entry is not None
    await room.bucket.delete(CONTROLS, entry.revision)
    await room.pass_time(LEASE, a, b)
    assert states(b, "a") == {"b": "waits", "a": "leads"}
    # One that keeps no line is known by its lead.
    assert states(b, "old") == {"b": "waits", "a": "waits", "old": "leads"}
