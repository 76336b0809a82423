"""Crawls of a pretended web while the engine, or the control node, is away, slow, wiped or full."""

import asyncio

import pytest
from tests.simulation.crawls import LEASE, Simulation, seeds

from gossamer.cluster.lease import FENCE_SHARE
from gossamer.cluster.messages import Resume
from gossamer.engine.memory import MemoryServer


def visits_between(crawl: Simulation, begin: float, end: float) -> int:
    return sum(begin <= visit.micros / 1e6 < end for visit in crawl.visits)


async def test_a_standby_leads_after_a_lease(crawl: Simulation) -> None:
    await crawl.begin("a", "b")
    standby = await crawl.control("c2", expect=2, until_done=True)
    await asyncio.sleep(LEASE)
    assert (crawl.leader.name, standby.leading) == ("c1", False)
    await crawl.kill("c1")
    passed = await crawl.until(lambda: standby.leading, "the second one leads")
    assert LEASE * 2 / 3 - 0.1 < passed < LEASE * 1.5
    assert crawl.machines["a"].lives == crawl.machines["b"].lives == 1
    await crawl.kill("b")
    await crawl.until(lambda: crawl.settled("a"), "the new leader notices a lost node")
    await crawl.finish("a", "c2")


async def test_nodes_go_on_without_a_control_node(crawl: Simulation) -> None:
    await crawl.begin("a", "b")
    await crawl.kill("c1")
    await crawl.until(lambda: len(crawl.visits) == len(crawl.web), "everything is visited")
    # Nobody says that it is over; nobody needs to know.
    await asyncio.sleep(10 * LEASE)
    assert not crawl.over("a")
    await crawl.control("c1", expect=2, until_done=True)
    await crawl.finish("a", "b", "c1")
    assert crawl.twice() == 0


async def test_the_engine_is_away_for_long(crawl: Simulation, server: MemoryServer) -> None:
    await crawl.begin("a", "b")
    server.stop()
    away = crawl.clock.monotonic()
    await asyncio.sleep(5 * LEASE)
    back = crawl.clock.monotonic()
    server.start()
    await crawl.finish("a", "b", "c1")
    assert visits_between(crawl, away + LEASE * FENCE_SHARE, back) == 0
    assert visits_between(crawl, away, away + LEASE * FENCE_SHARE) > 0
    # Silence that nobody could have heard is not held against anybody.
    assert {machine.lives for machine in crawl.machines.values()} == {1}
    assert crawl.twice() == 0


async def test_nodes_that_find_the_engine_later_than_the_control_node(
    crawl: Simulation, server: MemoryServer
) -> None:
    await crawl.begin("a", "b")
    for name in ("a", "b"):
        crawl.lines[name].cut()
    server.stop()
    await asyncio.sleep(5 * LEASE)
    server.start()
    await asyncio.sleep(LEASE / 2)
    for name in ("a", "b"):
        crawl.lines[name].mend()
    await crawl.finish("a", "b", "c1")
    assert {machine.lives for machine in crawl.machines.values()} == {1}
    assert crawl.twice() == 0


async def test_the_engine_is_away_for_a_moment(crawl: Simulation, server: MemoryServer) -> None:
    await crawl.begin("a", "b")
    before = crawl.assignment()
    for _ in range(5):
        server.stop()
        await asyncio.sleep(LEASE / 4)
        server.start()
        await asyncio.sleep(LEASE / 2)
    await crawl.finish("a", "b", "c1")
    assert crawl.assignment() == before
    assert crawl.twice() == 0


@pytest.mark.parametrize("seconds", [LEASE / 3, 3 * LEASE], ids=["short", "long"])
async def test_the_engine_chooses_a_leader(
    crawl: Simulation, server: MemoryServer, seconds: float
) -> None:
    await crawl.begin("a", "b")
    server.faults.electing = True
    await asyncio.sleep(seconds)
    server.faults.electing = False
    await crawl.finish("a", "b", "c1")
    # Silence that nobody could have heard is not held against anybody.
    assert {machine.lives for machine in crawl.machines.values()} == {1}
    assert crawl.twice() == 0


async def test_a_slow_engine(crawl: Simulation, server: MemoryServer) -> None:
    server.faults.delay = 0.05
    await crawl.begin("a", "b")
    await crawl.kill("b")
    await crawl.finish("a", "c1")


async def test_the_engine_is_wiped(crawl: Simulation, server: MemoryServer) -> None:
    await crawl.begin("a", "b", "c")
    server.wipe()
    await crawl.until(
        lambda: any("putting it back" in text for text in crawl.said), "the control node sees it"
    )
    await crawl.finish("a", "b", "c", "c1")
    assert any("sends links again" in text for text in crawl.said)
    # Who held partitions holds them still.
    assert {machine.lives for machine in crawl.machines.values()} == {1}


async def test_the_engine_is_wiped_and_a_node_is_lost(
    crawl: Simulation, server: MemoryServer
) -> None:
    await crawl.begin("a", "b", "c")
    await crawl.until(lambda: any(crawl.saved()), "a snapshot")
    await crawl.kill("b")
    server.wipe()
    await crawl.finish("a", "c", "c1")


async def test_answers_are_lost(crawl: Simulation, server: MemoryServer) -> None:
    """Whoever made a change cannot know whether it was made."""
    await crawl.begin("a", "b")
    for _ in range(6):
        server.faults.lose_answers = 1
        await asyncio.sleep(2.0)
    await crawl.node("c")
    await crawl.finish("a", "b", "c", "c1")


async def test_links_that_come_twice(crawl: Simulation, server: MemoryServer) -> None:
    server.faults.twice = True
    await crawl.begin("a", "b", "c")
    await crawl.finish("a", "b", "c", "c1")
    assert crawl.twice() == 0


async def test_readers_that_the_engine_forgets(crawl: Simulation, server: MemoryServer) -> None:
    await crawl.begin("a", "b")
    for _ in range(10):
        server.forget_readers()
        await asyncio.sleep(0.7)
    await crawl.finish("a", "b", "c1")
    assert crawl.twice() == 0


async def test_a_full_stream_frees_itself(crawl: Simulation, server: MemoryServer) -> None:
    settings: dict[str, object] = {
        "cluster.links_bytes": "4KiB", "cluster.snapshot_every": "1h"
    }  # fmt: skip
    await crawl.begin("a", "b", settings=settings)
    await crawl.finish("a", "b", "c1")
    assert any("is full" in text for text in crawl.said)


async def test_a_full_disk_of_the_engine(crawl: Simulation, server: MemoryServer) -> None:
    await crawl.begin("a", "b")
    server.faults.full = True
    await asyncio.sleep(3 * LEASE)
    server.faults.full = False
    await crawl.finish("a", "b", "c1")


async def test_everything_is_killed_and_started_again(
    crawl: Simulation, server: MemoryServer
) -> None:
    """A power cut: the engine forgets nothing, and nobody has to be taken out."""
    await crawl.begin("a", "b", "c")
    for name in ("a", "b", "c", "c1"):
        await crawl.kill(name)
    server.stop()
    await asyncio.sleep(10 * LEASE)
    server.start()
    await crawl.control("c1", expect=3, until_done=True)
    for name in ("c", "a", "b"):
        await crawl.node(name)
    await crawl.finish("a", "b", "c", "c1")
    assert {machine.lives for machine in crawl.machines.values()} == {2}
    assert crawl.twice() == 0


async def test_a_stopped_crawl_is_resumed(crawl: Simulation) -> None:
    await crawl.begin("a", "b")
    await crawl.leader.commands.stop()
    await crawl.until(lambda: crawl.over("a", "b", "c1"), "all end")
    seen = len(crawl.visits)
    assert seen < len(crawl.web)
    control = await crawl.control("c1", expect=2, until_done=True, resume=True)
    # Nodes that come before it has said that the crawl goes on end again.
    await crawl.until(lambda: isinstance(control.state.wanted, Resume) and control.leading, "it")
    for name in ("a", "b"):
        await crawl.node(name)
    await crawl.finish("a", "b", "c1")
    assert crawl.twice() == 0


async def test_seeds_that_were_taken_before_a_change_of_leaders(crawl: Simulation) -> None:
    """They are on the disk of who took them, and are sent when it is there again."""
    first = await crawl.control("c1")
    await crawl.until(lambda: first.leading, "the first one leads")
    await first.seeds.add(seeds(0))
    await crawl.kill("c1")
    second = await crawl.control("c2")
    await crawl.node("a")
    await crawl.until(lambda: second.leading, "the second one leads")
    await crawl.until(lambda: crawl.settled("a"), "it gives the partitions out")
    assert crawl.visits == []
    await crawl.kill("c2")
    await crawl.control("c1", until_done=True)
    await crawl.finish("a", "c1")


async def test_the_engine_loses_what_it_acknowledged_last(
    crawl: Simulation, server: MemoryServer
) -> None:
    """A power cut of an engine that does not flush: numbers are given out again."""
    await crawl.begin("a", "b", "c")
    server.lose_tail("web_links", 20)
    await crawl.finish("a", "b", "c", "c1")
