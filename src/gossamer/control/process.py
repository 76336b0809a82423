"""A control node's process: engine, control node, logs, API, until the crawl or the process ends."""

import asyncio
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from gossamer.cluster.shared_settings import engine_access
from gossamer.cluster.summary import Summary
from gossamer.control.api.server import PortTakenError, listen, serve
from gossamer.control.audit_log import AuditLog
from gossamer.control.cluster_service import ClusterService
from gossamer.control.leader.command_requests import CommandRequests
from gossamer.control.leader.control_node import ControlNode
from gossamer.control.leader.seed_queue import SeedCoder
from gossamer.control.replicated_logs import ReplicatedLogs
from gossamer.engine import connect
from gossamer.engine.tasks import end
from gossamer.errors import GossamerError
from gossamer.logging import logger
from gossamer.settings import CrawlSettings

_log = logger("control")
TAKE_OVER = 0.5
"""Seconds between looks whether the address is free."""


@dataclass(frozen=True, kw_only=True)
class ControlProcess:
    """What a control node is started with."""

    settings: CrawlSettings
    name: str
    out: Path
    coder: SeedCoder
    expect: int = 1
    until_done: bool = False
    resume: bool = False
    crawl: Path | None = None
    """The directory of the crawl, if `gossamer cluster` runs it."""

    async def run(
        self,
        ended: asyncio.Event,
        seeds: list[str],
        refused: Callable[[list[tuple[str, str]]], None],
    ) -> Summary:
        """Until the crawl is over or `ended` is set. `refused`: called with seeds that are not taken."""
        cluster = self.settings.cluster
        engine = await connect(engine_access(self.settings), cluster.name, self.name)
        try:
            node = ControlNode(
                engine,
                self.settings,
                name=self.name,
                directory=self.out,
                coder=self.coder,
                expect=self.expect,
                until_done=self.until_done,
                resume=self.resume,
            )
            if seeds:
                refused(await node.seeds.add(seeds))
            logs = ReplicatedLogs(
                engine,
                self.out,
                leading=lambda: node.leading,
                replicas=lambda: cluster.replicas,
            )
            audit = AuditLog(self.out / "audit.jsonl", logs)
            await audit.open()
            async with logs:
                await CommandRequests(node, audit).serve(engine)
                tasks = [
                    asyncio.create_task(_stop_when(ended, node)),
                    asyncio.create_task(self._serve(node, logs, audit)),
                ]
                try:
                    return await node.run()
                finally:
                    await end(tasks)
        finally:
            await engine.close()

    async def _serve(self, node: ControlNode, logs: ReplicatedLogs, audit: AuditLog) -> None:
        """Serves dashboard and API; beside another control node, as soon as that one is gone.

        So on one machine a second control node takes over at the same address, and those who look at a
        dashboard need no other one. Until then it follows what happens, and knows it when it begins.
        """
        control = self.settings.control
        try:
            async with (
                ClusterService(node, self.out, logs, crawl=self.crawl) as service,
                serve(service, control, self.out, await self._listener(), audit) as serving,
            ):
                node.served_at(serving.url)
                _log.info("serves dashboard and API", url=serving.url)
                try:
                    await asyncio.Event().wait()
                finally:
                    service.let_go()
        except (GossamerError, OSError) as error:
            _log.error("serves no dashboard and API", error=str(error))

    async def _listener(self) -> socket.socket:
        while True:
            try:
                return listen(self.settings.control)
            except PortTakenError as error:
                _log.info("standing by", why=str(error))
                await asyncio.sleep(TAKE_OVER)


async def _stop_when(ended: asyncio.Event, node: ControlNode) -> None:
    await ended.wait()
    node.stop_process()
