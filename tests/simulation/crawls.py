"""A whole cluster in this process: control nodes and members are the real ones, their nodes pretend to crawl."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import msgspec
from tests.simulation.nodes import Disk, PretendedNode, Visit
from tests.simulation.webs import PARTITIONS, Web, make_web, page_of, partition_of, url_of

from gossamer._native import Node
from gossamer.clock import SettableClock
from gossamer.cluster.assignment import Assignment
from gossamer.cluster.home import Home
from gossamer.cluster.member import Member, evicted
from gossamer.cluster.shared_settings import read_settings
from gossamer.cluster.summary import Summary
from gossamer.control.leader.control_node import ControlNode
from gossamer.engine import memory
from gossamer.engine.memory import MemoryEngine, MemoryServer
from gossamer.engine.tasks import end
from gossamer.errors import EvictedError
from gossamer.settings import CrawlSettings, load

LEASE = 4.0
STEP = 0.1
"""Seconds that a visit takes."""


class PretendedSeeds:
    """Pages below 0 are no pages."""

    def refusals(self, urls: Sequence[str], settings: CrawlSettings) -> list[str | None]:
        return ["no page" if page_of(url) < 0 else None for url in urls]

    def encode(
        self, urls: Sequence[str], settings: CrawlSettings, hops: int = 0
    ) -> list[tuple[int, bytes]]:
        pages = [page_of(url) for url in urls]
        return [(partition_of(page), msgspec.json.encode([page])) for page in pages]

    def check(self, settings: CrawlSettings) -> None:
        pass


@dataclass
class PretendedWiring:
    open: Callable[[], PretendedNode]

    def open_node(self, directory: Path, settings: CrawlSettings, name: str) -> Node:
        return cast("Node", self.open())

    def native_text(self, settings: CrawlSettings, name: str) -> str:
        return str(settings.politeness.delay)

    def read_settings(self, text: str) -> CrawlSettings:
        return read_settings(text)

    def last_visits(self, directory: Path, url: str) -> list[dict[str, object]]:
        return []

    async def step(self, node: Node, threads: Executor) -> bytes:
        await asyncio.sleep(STEP)
        return node.step(0.0)


@dataclass
class Machine:
    """A crawl node's process, and the disk that stays when it is killed."""

    name: str
    directory: Path
    disk: Disk = field(default_factory=Disk)
    line: MemoryEngine | None = None
    node: PretendedNode | None = None
    member: Member | None = None
    task: "asyncio.Task[str] | None" = None
    lives: int = 0
    """Incarnations that it began with."""


class _Log(logging.Handler):
    """What all processes log."""

    def __init__(self, said: list[str]) -> None:
        super().__init__()
        self._said = said

    def emit(self, record: logging.LogRecord) -> None:
        self._said.append(record.getMessage())


class Simulation:
    def __init__(
        self, server: MemoryServer, clock: SettableClock, directory: Path, web: Web | None = None
    ) -> None:
        self.server = server
        self.clock = clock
        self.web = web or make_web(300)
        self.visits: list[Visit] = []
        self.machines: dict[str, Machine] = {}
        self.controls: dict[str, ControlNode] = {}
        self.lines: dict[str, MemoryEngine] = {}
        self.said: list[str] = []
        self._log = _Log(self.said)
        logging.getLogger("gossamer").addHandler(self._log)
        logging.getLogger("gossamer").setLevel(logging.INFO)
        self._directory = directory
        self._running: dict[str, asyncio.Task[Summary]] = {}

    # --- processes

    async def control(
        self, name: str = "c1", *, settings: dict[str, object] | None = None, **more: Any
    ) -> ControlNode:
        options: dict[str, object] = {
            "partitions": PARTITIONS,
            "cluster.lease": f"{LEASE}s",
            "cluster.rejoin": "6s",
            "cluster.snapshot_every": "5s",
            "cluster.archive": False,
        }
        directory = self._directory / name
        directory.mkdir(exist_ok=True)
        self.lines[name] = await memory.connect(self.server, "web", name)
        node = ControlNode(
            self.lines[name],
            load(None, options | (settings or {})),
            name=name,
            directory=directory,
            coder=PretendedSeeds(),
            clock=self.clock,
            **more,
        )
        self.controls[name] = node
        self._running[name] = asyncio.create_task(node.run())
        return node

    async def node(self, name: str, place: str = "") -> Machine:
        """Starts a crawl node, or starts it again on its disk; `place`: on another one."""
        place = place or name
        machine = self.machines.setdefault(place, Machine(name, self._directory / place))
        line = await memory.connect(self.server, "web", name)
        machine.line = self.lines[place] = line
        machine.task = asyncio.create_task(self._live(machine, line))
        return machine

    async def _live(self, machine: Machine, line: MemoryEngine) -> str:
        home = Home(machine.directory, machine.name, "web")
        await asyncio.to_thread(home.open)

        def open_node() -> PretendedNode:
            if not (machine.directory / "state").exists():
                # It is new here, or was taken out and gave its state up.
                machine.disk = Disk()
            (machine.directory / "state").mkdir(exist_ok=True)
            machine.lives += 1
            machine.node = PretendedNode(
                machine.name, machine.disk, self.web, self.clock, self.visits
            )
            return machine.node

        while True:
            machine.member = Member(
                home,
                line,
                snapshots_url=str(self._directory / "snapshots"),
                wiring=PretendedWiring(open_node),
                host="here",
                pid=1,
                clock=self.clock,
            )
            try:
                return await machine.member.run()
            except EvictedError as error:
                await evicted(home, error)

    async def kill(self, name: str) -> None:
        """As by `kill -9`: nobody is told anything."""
        self.lines[name].cut()
        task = self._running.pop(name, None) or self.machines[name].task
        assert task is not None
        await end([task])
        await self.lines[name].close()
        self.controls.pop(name, None)

    async def end(self) -> None:
        tasks = [one.task for one in self.machines.values() if one.task is not None]
        await end([*self._running.values(), *tasks])
        logging.getLogger("gossamer").removeHandler(self._log)

    async def begin(self, *names: str, **more: Any) -> None:
        """A crawl by these nodes, well under way."""
        control = await self.control(expect=len(names), until_done=True, **more)
        await control.seeds.add(seeds(0))
        for name in names:
            await self.node(name)
        await self.until(lambda: self.settled(*names), "everybody has a share")
        await self.until(lambda: len(self.visits) > 20, "the crawl is under way")

    async def finish(self, *names: str) -> None:
        """The crawl ends by itself, with all of these; nothing was missed."""
        await self.until(lambda: self.over(*names), f"{names} end by themselves")
        self.check_all_visited()
        self.check_one_owner_at_a_time()

    # --- looking

    @property
    def leader(self) -> ControlNode:
        leading = [node for node in self.controls.values() if node.leading]
        assert len(leading) == 1, [node.name for node in leading]
        return leading[0]

    async def until(
        self, condition: Callable[[], object], what: str, seconds: float = 120.0
    ) -> float:
        """Gives the seconds that it took, by the settable clock."""
        begun = self.clock.monotonic()
        while not condition():
            passed = self.clock.monotonic() - begun
            assert passed < seconds, f"waited in vain: {what}; {self.said[-8:]}"
            for task in (*self._running.values(), *(m.task for m in self.machines.values())):
                if task is not None and task.done() and not task.cancelled() and task.exception():
                    raise AssertionError(what) from task.exception()
            await asyncio.sleep(0.02)
        return self.clock.monotonic() - begun

    def assignment(self) -> Assignment | None:
        """As the control node that was started last knows it, or knew it at its end."""
        return list(self.controls.values())[-1].state.map

    def saved(self) -> list[Path]:
        """The snapshots that count."""
        return sorted((self._directory / "snapshots").glob("*/partitions/*/*.json"))

    def settled(self, *names: str) -> bool:
        """These nodes own all partitions, evenly, hold what they own, and nothing moves."""
        value = self.assignment()
        if value is None or value.moving or value.ownerless or value.nodes() != set(names):
            return False
        counts = value.counts().values()
        held = {
            name: {number: row.epoch for number, row in value.owned(name).items()} for name in names
        }
        return max(counts) - min(counts) <= 1 and all(
            {number: part.epoch for number, part in self.machines[name].disk.parts.items()} == rows
            for name, rows in held.items()
        )

    def over(self, *names: str) -> bool:
        """These processes have ended by themselves."""
        ended = {place: one.task for place, one in self.machines.items()} | self._running
        return all(cast("asyncio.Task[object]", ended[name]).done() for name in names)

    # --- checks

    def check_all_visited(self) -> None:
        assert {visit.page for visit in self.visits} == set(range(len(self.web)))

    def check_one_owner_at_a_time(self) -> None:
        """Once a newer owner has visited a partition no older one does."""
        newest: dict[int, int] = {}
        for visit in self.visits:
            partition = partition_of(visit.page)
            assert visit.epoch >= newest.get(partition, 0), visit
            newest[partition] = visit.epoch

    def twice(self) -> int:
        """Visits of pages that were visited before."""
        return len(self.visits) - len({visit.page for visit in self.visits})


def seeds(*pages: int) -> list[str]:
    return [url_of(page) for page in pages]
