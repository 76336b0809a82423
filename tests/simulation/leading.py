"""A control node and crawl nodes without a crawl, in this process: what they say to each other is real."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Self

import msgspec

from gossamer.clock import SYSTEM, Clock, SettableLoop
from gossamer.cluster.assignment import hand_over
from gossamer.cluster.crawl_state import CrawlState
from gossamer.cluster.lease import Lease
from gossamer.cluster.messages import Answer, NodeStatus, Pause, Shutdown, encode
from gossamer.cluster.summary import NOTHING
from gossamer.control.audit_log import AuditLog
from gossamer.control.leader.command_requests import CommandRequests
from gossamer.control.leader.control_node import ControlNode
from gossamer.engine import Engine
from gossamer.engine.tasks import end
from gossamer.errors import ConflictError, EngineError
from gossamer.model.progress import Activity
from gossamer.node.clustered import NativeSeeds
from gossamer.settings import load

LEASE = 1.5
IDLE = msgspec.structs.replace(NOTHING, activity=Activity.FINISHED)
USUAL = {"partitions": 16, "cluster.lease": f"{LEASE}s", "cluster.rejoin": "2s"}


def loop_clock() -> Clock:
    """The clock of the loop that runs: the settable one, or on a real engine the machine's."""
    loop = asyncio.get_running_loop()
    return loop.clock if isinstance(loop, SettableLoop) else SYSTEM


async def until(condition: Callable[[], object], what: str, seconds: float = 60.0) -> None:
    """Waits for a condition, not for a time."""
    try:
        async with asyncio.timeout(seconds):
            while not condition():  # noqa: ASYNC110  nobody tells us
                await asyncio.sleep(0.01)
    except TimeoutError:
        raise AssertionError(f"waited in vain: {what}") from None


@contextlib.asynccontextmanager
async def leading(
    engine: Engine, directory: Path, name: str = "control", **settings: object
) -> AsyncIterator[ControlNode]:
    """A control node that leads, and answers commands through the engine."""
    effective = load(None, USUAL | {key.replace("__", "."): v for key, v in settings.items()})
    node = ControlNode(
        engine,
        effective,
        name=name,
        directory=directory,
        coder=NativeSeeds(),
        clock=loop_clock(),
    )
    await asyncio.to_thread(directory.mkdir, parents=True, exist_ok=True)
    audit = AuditLog(directory / "audit.jsonl")
    await audit.open()
    await CommandRequests(node, audit).serve(engine)
    running = asyncio.create_task(node.run())
    try:
        await until(lambda: running.done() or (node.leading and node.state.map), "a leader")
        yield node
    finally:
        # In order, as the command does it: the lead is given up.
        node.stop_process()
        await running


class PretendedNode:
    """A crawl node that visits nothing: it renews its lease, says how it is and hands over."""

    def __init__(self, engine: Engine, name: str, incarnation: str = "x") -> None:
        self.name = name
        self._engine = engine
        self._state = CrawlState(engine)
        self._incarnation = incarnation
        self._clock = loop_clock()
        self._lease = Lease(self._state.nodes, name, incarnation, LEASE, clock=self._clock)
        self._tasks: list[asyncio.Task[None]] = []
        self.ended = False
        """It was told to end."""

    async def __aenter__(self) -> Self:
        assert await self._lease.take()
        self._lease.checked = True
        await self._engine.serve(self._engine.names.node(self.name), self._answer)
        self._tasks = [asyncio.create_task(one) for one in (self._renew(), self._work())]
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.die()

    async def die(self) -> None:
        """As by `kill -9`: nobody is told."""
        await end(self._tasks)

    async def leave(self, *, keeps: bool) -> None:
        await self.die()
        await self._lease.give_up(keeps=keeps)

    @property
    def owned(self) -> int:
        return len(self._state.map.owned(self.name)) if self._state.map else 0

    async def _answer(self, _data: bytes) -> bytes:
        self.ended = True
        return encode(Answer())

    async def _renew(self) -> None:
        while True:
            with contextlib.suppress(EngineError):
                await self._lease.renew()
            await asyncio.sleep(self._lease.every)

    async def _work(self) -> None:
        while True:
            with contextlib.suppress(EngineError):
                await self._state.refresh()
                await self._hand_over()
                names = self._engine.names
                await self._engine.publish(names.status(self.name), encode(self._status()))
            await asyncio.sleep(0.05)

    async def _hand_over(self) -> None:
        value = self._state.map
        moving = [p for p, row in value.owned(self.name).items() if row.to] if value else []
        if value is not None and moving:
            with contextlib.suppress(ConflictError):
                await self._state.change_map(hand_over(value, moving, self.name))

    def _named(self) -> str:
        wanted = self._state.wanted
        if isinstance(wanted, Shutdown):
            return "leaving"
        still = isinstance(wanted, Pause) or self.name in self._state.held
        return "paused" if still else "running"

    def _status(self) -> NodeStatus:
        value, crawl = self._state.map, self._state.crawl
        return NodeStatus(
            node=self.name,
            incarnation=self._incarnation,
            time=self._clock.now(),
            started=self._clock.now(),
            state=self._named(),
            progress=IDLE,
            map_epoch=value.epoch if value else 0,
            partitions=[(p, row.epoch) for p, row in value.owned(self.name).items()]
            if value
            else [],
            roots=self._state.root_parts,
            settings=crawl.change if crawl else 0,
            held=self.name in self._state.held,
        )
