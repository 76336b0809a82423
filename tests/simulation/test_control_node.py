"""A control node in this process: settings, membership, rebalancing, removal."""

import asyncio
from pathlib import Path

import pytest
from tests.simulation.leading import LEASE, PretendedNode, leading, until

from gossamer.cluster.lease import RENEWALS
from gossamer.cluster.messages import Evicted, encode
from gossamer.cluster.requests import ask_control
from gossamer.control.leader import membership
from gossamer.control.leader.control_node import ControlNode
from gossamer.control.schemas import Change
from gossamer.engine import Engine
from gossamer.errors import SettingsError, UsageError


def settled(node: ControlNode, *names: str) -> bool:
    """All partitions are with these nodes, spread evenly, and nothing moves."""
    value = node.state.map
    if value is None or value.moving or value.ownerless or value.nodes() != set(names):
        return False
    counts = value.counts().values()
    return max(counts) - min(counts) <= 1


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"scope.exclude": ["("]}, "scope.exclude"),
        ({"partitions": 8}, "fixed when the crawl is started"),
        ({"fetch.agent": "other"}, "fixed when the crawl is started"),
        ({"no.such": 1}, "unknown setting no.such"),
        ({"politeness.delay": "-1s"}, "politeness.delay"),
        ({"politeness.delay": "2s", "partitions": 8}, "partitions is fixed"),
    ],
)
async def test_settings_through_the_engine_are_checked_like_all(
    engine: Engine, tmp_path: Path, values: dict[str, object], words: str
) -> None:
    """As `gossamer cluster --resume --set` gives them."""
    async with leading(engine, tmp_path) as node:
        crawl = node.state.crawl
        with pytest.raises(SettingsError, match=words):
            await ask_control(engine, "settings", {"values": values})
        await node.settings.refresh()
        assert node.state.crawl == crawl


async def test_an_order_that_would_have_no_effect_is_refused_through_the_engine(
    engine: Engine, tmp_path: Path
) -> None:
    async with leading(engine, tmp_path, doors__order="deep"):
        with pytest.raises(SettingsError, match=r"no effect .* doors\.order names deep"):
            await ask_control(engine, "settings", {"values": {"frontier.order": "static"}})


async def test_settings_through_the_engine_have_a_history(engine: Engine, tmp_path: Path) -> None:
    async with leading(engine, tmp_path) as node:
        body = {"values": {"politeness.delay": "2s"}}
        assert await ask_control(engine, "settings", body, who="ann@here") == 1
        await node.settings.refresh()
        crawl = node.state.crawl
        assert crawl is not None
        change = Change.model_validate_json(crawl.account)
        assert (change.version, change.who) == (1, "engine:ann@here")
        (value,) = change.values
        assert (value.name, value.old, value.new) == ("politeness.delay", "1s", "2s")
        assert node.settings.current.politeness.delay == 2.0
        assert await ask_control(engine, "settings", body) == 2
        kept = await node.state.crawls.get("change.1")
        assert kept is not None
        assert kept.value.decode() == crawl.account


async def test_partitions_follow_the_nodes(engine: Engine, tmp_path: Path) -> None:
    async with leading(engine, tmp_path) as node, PretendedNode(engine, "a") as a:
        await until(lambda: settled(node, "a"), "a has all")
        async with PretendedNode(engine, "b") as b:
            await until(lambda: settled(node, "a", "b"), "both have half")
            await until(lambda: (a.owned, b.owned) == (8, 8), "they know it")
            await b.die()
            await until(lambda: settled(node, "a"), "what b had is a's")
        known = node.membership.nodes["b"]
        assert isinstance(known.record, Evicted)
        assert "silent" in known.record.reason
        async with PretendedNode(engine, "c") as c:
            await until(lambda: settled(node, "a", "c"), "c has its half")
            await c.leave(keeps=False)
            await until(lambda: settled(node, "a"), "who leaves for good is not waited for")


async def test_a_removed_node_hands_over_and_is_told_to_end(engine: Engine, tmp_path: Path) -> None:
    async with (
        leading(engine, tmp_path) as node,
        PretendedNode(engine, "a") as a,
    ):
        await until(lambda: settled(node, "a"), "a has all")
        with pytest.raises(UsageError, match="the last node"):
            await ask_control(engine, "remove", {"node": "a"})
        with pytest.raises(UsageError, match="no node z"):
            await ask_control(engine, "remove", {"node": "z"})
        async with PretendedNode(engine, "b") as b:
            await until(lambda: settled(node, "a", "b"), "both have half")
            await ask_control(engine, "remove", {"node": "b"})
            await until(lambda: settled(node, "a") and b.ended, "b has nothing, and is told to end")
            assert not a.ended
            await b.leave(keeps=True)
        await until(lambda: not node.drain.nodes, "the removal is over")


async def test_a_lost_node_leaves_the_list_after_a_day(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with leading(engine, tmp_path) as node:
        gone = Evicted(node="old", incarnation="x", time=0.0, reason="silent")
        await node.state.nodes.put("old", encode(gone))
        await until(lambda: "old" in node.membership.nodes, "it is known")
        monkeypatch.setattr(membership, "FORGET", 0.5)
        await until(lambda: "old" not in node.membership.nodes, "it is forgotten")
        assert await node.state.nodes.get("old") is None


async def test_heartbeats_do_not_make_the_leader_read_all_nodes(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with leading(engine, tmp_path) as node, PretendedNode(engine, "a"):
        await until(lambda: settled(node, "a"), "a has all")
        reads = 0
        refresh = node.membership.refresh

        async def counted() -> None:
            nonlocal reads
            reads += 1
            await refresh()

        monkeypatch.setattr(node.membership, "refresh", counted)
        begun = asyncio.get_running_loop().time()
        for number in range(200):
            await node.state.nodes.put("other", encode(_beat(number)))
        await until(lambda: reads >= 2, "it still reads by the clock")
        by_the_clock = (asyncio.get_running_loop().time() - begun) / (
            LEASE / RENEWALS / membership.LOOKS
        )
        assert reads <= by_the_clock + 1


def _beat(number: int) -> Evicted:
    return Evicted(node="other", incarnation="x", time=float(number), reason="")


async def test_the_lead_passes_on_when_it_is_given_up(engine: Engine, tmp_path: Path) -> None:
    async with leading(engine, tmp_path / "a", "a"):
        pass
    async with leading(engine, tmp_path / "b", "b", cluster__lease="60s") as node:
        assert node.leading
        assert node.lease.current is not None
        assert node.lease.current.control == "b"
    assert LEASE < 60
