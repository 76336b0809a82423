"""Crawls of a pretended web by a cluster in this process: nodes come, go, and are lost."""

import asyncio

import pytest
from tests.simulation.crawls import LEASE, Machine, Simulation, seeds
from tests.simulation.webs import Web

from gossamer.cluster.lease import FENCE_SHARE
from gossamer.cluster.messages import Evicted, NodeStatus
from gossamer.errors import UsageError


def last_visit(crawl: Simulation, name: str) -> float:
    return max(visit.micros for visit in crawl.visits if visit.node == name) / 1e6


def result(machine: Machine) -> str:
    assert machine.task is not None
    return machine.task.result()


async def test_three_nodes_share_a_crawl(crawl: Simulation) -> None:
    control = await crawl.control(expect=3, until_done=True)
    assert await control.seeds.add(seeds(0, -1)) == [(seeds(-1)[0], "no page")]
    for name in ("a", "b", "c"):
        await crawl.node(name)
    await crawl.finish("a", "b", "c", "c1")
    assert crawl.twice() == 0
    assert {result(machine) for machine in crawl.machines.values()} == {"done"}
    assert {visit.node for visit in crawl.visits} == {"a", "b", "c"}


async def test_a_node_that_joins_takes_its_share(crawl: Simulation) -> None:
    await crawl.begin("a", "b")
    await crawl.node("c")
    await crawl.until(lambda: crawl.settled("a", "b", "c"), "c has its share")
    assert not crawl.over("a")
    await crawl.finish("a", "b", "c", "c1")
    # What is handed over is handed over with all that is known of it.
    assert crawl.twice() == 0


async def test_a_lost_node_is_noticed_after_its_lease(crawl: Simulation) -> None:
    await crawl.begin("a", "b", "c")
    await crawl.kill("b")
    members = crawl.leader.membership
    passed = await crawl.until(lambda: isinstance(members.nodes["b"].record, Evicted), "the loss")
    # It renewed up to a third of a lease ago; the control node looks a few times in that time.
    assert LEASE * 2 / 3 - 0.1 < passed < LEASE * 1.5
    await crawl.until(lambda: crawl.settled("a", "c"), "the others have its share")
    await crawl.finish("a", "c", "c1")


async def test_a_killed_node_that_comes_back_at_once_keeps_what_it_has(crawl: Simulation) -> None:
    await crawl.begin("a", "b")
    owned = crawl.assignment()
    await crawl.kill("b")
    await asyncio.sleep(1.0)
    await crawl.node("b")
    await crawl.finish("a", "b", "c1")
    assert crawl.assignment() == owned
    assert crawl.machines["b"].lives == 2
    assert crawl.twice() == 0


async def test_a_killed_node_that_comes_back_late_begins_with_nothing(crawl: Simulation) -> None:
    await crawl.begin("a", "b")
    await crawl.kill("b")
    await crawl.until(lambda: crawl.settled("a"), "a has all")
    await crawl.node("b")
    await crawl.until(lambda: crawl.settled("a", "b"), "b has a share again")
    assert any("taken out; joining anew" in text for text in crawl.said)
    await crawl.finish("a", "b", "c1")


async def test_a_node_without_the_engine_stops_before_its_lease_ends(crawl: Simulation) -> None:
    await crawl.begin("a", "b", "c")
    cut = crawl.clock.monotonic()
    crawl.lines["b"].cut()
    await crawl.until(lambda: crawl.settled("a", "c"), "the others have its share")
    assert last_visit(crawl, "b") <= cut + LEASE * FENCE_SHARE
    # What it visited since its last snapshot others visit again, and later.
    crawl.lines["b"].mend()
    await crawl.until(lambda: crawl.settled("a", "b", "c"), "it joins anew")
    assert crawl.machines["b"].lives == 2
    await crawl.finish("a", "b", "c", "c1")


async def test_a_short_cut_changes_nothing(crawl: Simulation) -> None:
    await crawl.begin("a", "b")
    owned = crawl.assignment()
    for _ in range(3):
        crawl.lines["b"].cut()
        await asyncio.sleep(LEASE / 2)
        crawl.lines["b"].mend()
        await asyncio.sleep(LEASE)
    await crawl.finish("a", "b", "c1")
    assert crawl.assignment() == owned
    assert crawl.machines["b"].lives == 1
    assert crawl.twice() == 0


async def test_a_removed_node_hands_over_and_ends(crawl: Simulation) -> None:
    await crawl.begin("a", "b")
    commands = crawl.leader.commands
    with pytest.raises(UsageError, match="no node z"):
        await commands.remove_node("z")
    await commands.remove_node("b")
    await crawl.until(lambda: crawl.over("b"), "b has ended")
    assert result(crawl.machines["b"]) == "removed by command"
    assert crawl.settled("a")
    with pytest.raises(UsageError, match="the last node"):
        await commands.remove_node("a")
    await crawl.finish("a", "c1")
    assert crawl.twice() == 0


async def test_a_pause_holds_all_and_a_late_comer_too(crawl: Simulation) -> None:
    await crawl.begin("a", "b")
    await crawl.leader.commands.pause()
    await asyncio.sleep(1.0)
    count = len(crawl.visits)
    await crawl.node("c")
    await asyncio.sleep(20.0)
    assert len(crawl.visits) == count
    assert crawl.settled("a", "b", "c")
    await crawl.leader.commands.resume()
    await crawl.finish("a", "b", "c", "c1")
    assert crawl.twice() == 0


async def test_one_node_is_held_back(crawl: Simulation) -> None:
    await crawl.begin("a", "b")
    await crawl.leader.commands.hold_node("b", hold=True)
    await asyncio.sleep(1.0)
    held = sum(visit.node == "b" for visit in crawl.visits)
    await crawl.kill("b")
    await crawl.node("b")
    await asyncio.sleep(10.0)
    assert sum(visit.node == "b" for visit in crawl.visits) == held
    await crawl.leader.commands.hold_node("b", hold=False)
    await crawl.finish("a", "b", "c1")


async def test_a_change_of_settings_reaches_all(crawl: Simulation) -> None:
    await crawl.begin("a", "b")
    control = crawl.leader
    politeness = control.settings.current.politeness.model_copy(update={"delay": 7.0})
    changed = control.settings.current.model_copy(update={"politeness": politeness})
    assert await control.settings.set(changed) == 1

    def known(name: str) -> bool:
        node = crawl.machines[name].node
        status = control.membership.nodes[name].status
        return (
            node is not None
            and node.settings[-1:] == ["7.0"]
            and status is not None
            and status.settings == 1
        )

    assert await crawl.until(lambda: known("a") and known("b"), "both know it") < 3.0
    crawl.machines["a"].node.settings.clear()  # type: ignore[union-attr]
    await crawl.kill("b")
    await crawl.node("b")
    await crawl.finish("a", "b", "c1")
    # Who begins with them is not told of a change; who has them already neither.
    assert crawl.machines["b"].node.settings == []  # type: ignore[union-attr]
    assert crawl.machines["a"].node.settings == []  # type: ignore[union-attr]


async def test_settings_that_a_node_cannot_use_do_not_end_it(
    crawl: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    await crawl.begin("a", "b")
    control, node = crawl.leader, crawl.machines["a"].node
    assert node is not None
    take = node.set_settings

    def set_settings(text: str) -> None:
        if text == "7.0":
            raise ValueError("no such gap")
        take(text)

    monkeypatch.setattr(node, "set_settings", set_settings)

    def status(name: str) -> NodeStatus:
        known = control.membership.nodes[name].status
        assert known is not None
        return known

    async def change(delay: float) -> None:
        politeness = control.settings.current.politeness.model_copy(update={"delay": delay})
        changed = control.settings.current.model_copy(update={"politeness": politeness})
        await control.settings.set(changed)

    await change(7.0)
    await crawl.until(lambda: status("b").settings == 1, "b works with them")
    await crawl.until(lambda: "no such gap" in "; ".join(status("a").notes), "a says why not")
    assert status("a").settings == 0
    # Told once, not at every look.
    await asyncio.sleep(5.0)
    assert sum("no such gap" in text for text in crawl.said) == 1
    await change(8.0)
    await crawl.until(lambda: {status(n).settings for n in "ab"} == {2}, "both work with the next")
    assert (status("a").notes, node.settings) == ([], ["8.0"])
    await crawl.finish("a", "b", "c1")
    assert {machine.lives for machine in crawl.machines.values()} == {1}


async def test_seeds_while_it_runs(crawl: Simulation) -> None:
    # Two chains of pages that do not know of each other.
    crawl.web = Web(tuple((page + 1,) if page % 50 != 49 else () for page in range(100)))
    control = await crawl.control()
    await control.seeds.add(seeds(50))
    await crawl.node("a")
    await crawl.until(lambda: control.overview.phase == "finished", "the first seed's part")
    assert {visit.page for visit in crawl.visits} == set(range(50, 100))
    await control.seeds.add(seeds(0, 50))
    await crawl.until(lambda: len(crawl.visits) > 50, "the second begins")
    await crawl.until(lambda: control.overview.phase == "finished", "the rest")
    crawl.check_all_visited()
    assert crawl.twice() == 0
    node = crawl.machines["a"].node
    assert node is not None
    assert set(node.roots) == set(seeds(50, 0))


async def test_a_name_has_one_node(crawl: Simulation) -> None:
    await crawl.begin("a", "b")
    twin = await crawl.node("b", "another disk")
    await asyncio.sleep(3 * LEASE)
    assert twin.node is not None
    assert twin.disk.visits == 0
    assert any("another disk" in text for text in crawl.said)
    await crawl.kill("b")
    # Now it is the one, and what the first had on its disk is nobody's.
    await crawl.until(lambda: twin.disk.visits > 0, "the second one has the name")
    await crawl.finish("a", "another disk", "c1")
