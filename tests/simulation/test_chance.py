"""Whatever happens, in whatever order: when it is over, every page was visited, by one owner at a time.

A seed decides what happens and when; the same seed gives the same story.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable

import pytest
from tests.simulation.crawls import LEASE, Simulation, seeds
from tests.simulation.webs import make_web

from gossamer.engine.memory import MemoryServer

NODES = ("a", "b", "c")
EVENTS = 10


class Story:
    """Things that happen to a crawl, and how each is made good again."""

    def __init__(self, crawl: Simulation, server: MemoryServer, chance: random.Random) -> None:
        self._crawl = crawl
        self._server = server
        self._chance = chance
        self._dead: set[str] = set()

    async def go_on(self) -> str:
        """One thing, chosen by chance; gives its name."""
        things: list[Callable[[], Awaitable[None]]] = [
            self.kill_a_node, self.cut_a_line, self.stop_the_engine, self.choose_a_leader,
            self.lose_answers, self.forget_readers, self.kill_the_control_node, self.be_slow,
            self.fill_the_disk, self.start_a_node, self.pause, self.lose_the_tail,
        ]  # fmt: skip
        thing = self._chance.choice(things)
        await thing()
        return thing.__name__

    async def _for_a_while(self) -> None:
        await asyncio.sleep(self._chance.choice([0.1, LEASE / 2, LEASE, 2 * LEASE]))

    async def kill_a_node(self) -> None:
        living = sorted(set(NODES) - self._dead)
        if len(living) > 1:
            name = self._chance.choice(living)
            self._dead.add(name)
            await self._crawl.kill(name)

    async def start_a_node(self) -> None:
        if self._dead:
            name = self._chance.choice(sorted(self._dead))
            self._dead.discard(name)
            await self._crawl.node(name)

    async def cut_a_line(self) -> None:
        name = self._chance.choice([*sorted(set(NODES) - self._dead), "c1"])
        line = self._crawl.lines[name]
        line.cut()
        await self._for_a_while()
        line.mend()

    async def stop_the_engine(self) -> None:
        self._server.stop()
        await self._for_a_while()
        self._server.start()

    async def choose_a_leader(self) -> None:
        self._server.faults.electing = True
        await self._for_a_while()
        self._server.faults.electing = False

    async def be_slow(self) -> None:
        self._server.faults.delay = self._chance.choice([0.01, 0.3])
        await self._for_a_while()
        self._server.faults.delay = 0.0

    async def fill_the_disk(self) -> None:
        self._server.faults.full = True
        await self._for_a_while()
        self._server.faults.full = False

    async def lose_answers(self) -> None:
        self._server.faults.lose_answers = self._chance.randrange(1, 4)
        await self._for_a_while()
        self._server.faults.lose_answers = 0

    async def forget_readers(self) -> None:
        self._server.forget_readers()

    async def lose_the_tail(self) -> None:
        if "web_links" in self._server.streams:
            self._server.lose_tail("web_links", self._chance.randrange(1, 40))

    async def kill_the_control_node(self) -> None:
        await self._crawl.kill("c1")
        await self._for_a_while()
        await self._crawl.control("c1", expect=3)

    async def pause(self) -> None:
        for control in self._crawl.controls.values():
            if control.leading:
                await control.commands.pause()
                await self._for_a_while()
                await control.commands.resume()
                return

    async def make_good(self) -> None:
        """Every node is there at the end, so that the crawl can end."""
        for name in sorted(self._dead):
            await self._crawl.node(name)


@pytest.mark.parametrize("seed", range(10))
async def test_whatever_happens(crawl: Simulation, server: MemoryServer, seed: int) -> None:
    chance = random.Random(seed)
    crawl.web = make_web(600, seed)
    control = await crawl.control("c1", expect=3)
    await control.seeds.add(seeds(0))
    for name in NODES:
        await crawl.node(name)
    await crawl.until(lambda: len(crawl.visits) > 20, "the crawl is under way")
    story, told = Story(crawl, server, chance), []
    for _ in range(EVENTS):
        told.append(await story.go_on())
        await asyncio.sleep(chance.uniform(0.0, LEASE))
    await story.make_good()
    await crawl.until(
        lambda: crawl.controls["c1"].overview.phase == "finished", f"the end after {told}", 600.0
    )
    crawl.check_all_visited()
    crawl.check_one_owner_at_a_time()
