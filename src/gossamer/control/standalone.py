"""The service of a standalone crawl: one process, one node, the same API."""

import asyncio
import contextlib
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal, Self, TypeVar

import msgspec

import gossamer
from gossamer import _native
from gossamer.control.desk import COUNTERS, TOLD, Desk, check_host_command
from gossamer.control.eta import time_left
from gossamer.control.hosting import host_row, make_cursor, native_question, url_account
from gossamer.control.seedbook import fates
from gossamer.control.service import (
    NotKnownError,
    RefusedError,
    UnreachableError,
    WrongValueError,
)
from gossamer.control.shapes import (
    Change,
    ChangeSettings,
    Command,
    CommandResult,
    Confirmation,
    ControlNodeView,
    ControlState,
    EventKind,
    History,
    HostAction,
    HostCommand,
    HostPage,
    HostQuery,
    HostRow,
    NodeCommand,
    NodeState,
    NodeView,
    PartitionMap,
    PartitionView,
    SeedSubmission,
    Status,
    SubmissionFates,
    UrlAccount,
)
from gossamer.control.shapes.hosts import HostStanding
from gossamer.disk import free_bytes
from gossamer.errors import DiskFullError, GossamerError, SettingsError
from gossamer.model.progress import Activity, Progress
from gossamer.node.recent import visit_rows
from gossamer.node.standalone import Standalone
from gossamer.settings import CrawlSettings

NODE = "standalone"
ANSWERS = 64
"""Answers that are kept for a second."""
"""Last visits that `why` tells."""
T = TypeVar("T")
_STATES = {
    Activity.RUNNING: NodeState.RUNNING,
    Activity.PAUSED: NodeState.PAUSED,
    Activity.DISK_FULL: NodeState.DISK_FULL,
    Activity.FINISHED: NodeState.FINISHED,
    Activity.LIMIT_REACHED: NodeState.FINISHED,
}
_ONE_NODE = "a standalone crawl is one node; use `gossamer cluster` for more"


class StandaloneService(Desk):
    """Sees and steers a crawl in this process. `take` is called with every reading."""

    _never: ClassVar[Mapping[Command, str]] = {Command.ADD_NODE: _ONE_NODE}

    def __init__(self, crawl: Standalone, out: Path) -> None:
        super().__init__(out / "control", "seeds.jsonl")
        self._crawl = crawl
        self._out = out
        self._progress: Progress | None = None
        self._heard = time.time()
        self._wanted: Literal["run", "pause", "stop"] = "run"
        self._begun = time.time()
        self._url: str | None = None
        self._ticking: asyncio.Task[None] | None = None
        self._list: _native.HostList | None = None
        # Answers of this second: many who look at the same thing cost as one. Emptied by every
        # tick and every command.
        self._pages: dict[HostQuery, HostPage] = {}
        self._histories: dict[float, History] = {}

    async def __aenter__(self) -> Self:
        await self._open()
        self._list = self._crawl.node.host_list()
        self._newsroom.tell(EventKind.STARTED, "the crawl began to work", node=NODE)
        self._ticking = asyncio.create_task(self._tick())
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._ticking is not None:
            self._ticking.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._ticking
        self.let_go()

    def let_go(self) -> None:
        """The crawl ends: tells those who watch, and ends their streams."""
        if self._progress is not None and self._progress.activity is Activity.FINISHED:
            self._newsroom.tell(EventKind.FINISHED, "nothing is left to crawl", node=NODE)
        self._progress = None
        self._newsroom.close()

    def take(self, progress: Progress) -> None:
        """A reading of the node's counters."""
        self._progress = progress
        self._heard = time.time()

    async def _tick(self) -> None:
        while True:
            if self._progress is not None:
                status = await self._read(self._progress)
                self._readings.add(status)
                self._alerts.judge(status, [self._node(status)], self._readings)
                self._keep(status)
                self._forget_answers()
                self._newsroom.show(status)
            await asyncio.sleep(1.0 - time.time() % 1.0)

    def _forget_answers(self) -> None:
        self._pages.clear()
        self._histories.clear()

    async def _read(self, progress: Progress) -> Status:
        now = time.time()
        free = await asyncio.to_thread(free_bytes, self._out)
        pages = self._readings.rate("pages", now, progress.pages)
        visits = self._readings.rate("visits", now, progress.visits)
        left, ending = time_left(self._crawl.settings.limits, progress, pages, visits)
        return Status(
            time=round(now, 3),
            mode="standalone",
            crawl=self._out.name or str(self._out),
            version=gossamer.__version__,
            wanted=self._wanted,
            disk_free=free,
            pages_per_second=round(pages, 2),
            bytes_per_second=round(self._readings.rate("bytes", now, progress.bytes), 1),
            eta_seconds=left,
            eta_from=ending,
            nodes=1,
            settings_version=self._changes.version,
            alerts=len(self._alerts.standing()),
            control=[self._control_node(now)],
            activity=progress.activity,
            note=progress.note,
            **{name: getattr(progress, name) for name in COUNTERS},
        )

    def served_at(self, url: str) -> None:
        """Where this crawl's API is reached."""
        self._url = url

    def _control_node(self, now: float) -> ControlNodeView:
        """The crawl is its own control node, and no other one can take over."""
        return ControlNodeView(
            id=NODE,
            leads=True,
            state=ControlState.LEADS,
            url=self._url,
            since=round(self._begun, 3),
            last_heartbeat=round(now, 3),
            version=gossamer.__version__,
        )

    async def _ask(self, action: Callable[[_native.Node], T]) -> T:
        try:
            return await self._crawl.ask(action)
        except DiskFullError as error:
            raise RefusedError("disk_full", str(error)) from error
        except GossamerError as error:
            raise UnreachableError("no_answer", str(error)) from error

    def _settings(self) -> CrawlSettings:
        return self._crawl.settings

    def _wanted_now(self) -> Literal["run", "pause", "stop"]:
        return self._wanted

    # --- looking

    async def ready(self) -> str | None:
        if self._status is None:
            return "the crawl has just begun"
        silent = time.time() - self._heard
        return f"the crawl has not answered for {silent:.0f} s" if silent > 10 else None

    async def history(self, seconds: float) -> History:
        if seconds not in self._histories:
            if len(self._histories) >= ANSWERS:
                self._histories.clear()
            self._histories[seconds] = self._readings.page(seconds, time.time())
        return self._histories[seconds]

    def _node(self, status: Status) -> NodeView:
        return NodeView(
            id=NODE,
            state=NodeState.LEAVING if self._wanted == "stop" else _STATES[status.activity],
            address=None,
            pid=os.getpid(),
            version=status.version,
            uptime=round(status.time - self._begun, 1),
            last_heartbeat=round(self._heard, 3),
            pages=status.pages,
            bytes=status.bytes,
            urls_seen=status.urls_seen,
            urls_queued=status.urls_queued,
            in_flight=status.in_flight,
            hosts_known=status.hosts_known,
            pages_per_second=status.pages_per_second,
            rss=status.rss,
            disk=status.disk,
            disk_free=status.disk_free,
            partitions=self._crawl.settings.partitions,
            settings_version=self._changes.version,
            note=status.note,
        )

    async def nodes(self) -> list[NodeView]:
        return [self._node(await self.status())]

    async def node_command(self, node: str, command: NodeCommand, who: str) -> NodeView:
        if node != NODE:
            raise NotKnownError("no_such_node", f"there is no node {node[:100]}")
        if command is NodeCommand.REMOVE:
            raise RefusedError("only_node", f"{_ONE_NODE}; `stop` ends it")
        await self.command(Command(command.value), who)
        return self._node(await self.status())

    async def partitions(self) -> PartitionMap:
        sizes = await asyncio.to_thread(self._host_list().partition_sizes)
        return PartitionMap(
            epoch=1,
            partitions=[
                PartitionView(
                    partition=number, node=NODE, epoch=1, to=None,
                    hosts=hosts, queued=queued, pages=pages,
                )
                for number, (hosts, queued, pages) in enumerate(sizes)
            ],
        )  # fmt: skip

    def _host_list(self) -> _native.HostList:
        if self._list is None:
            raise UnreachableError("no_list", "no list of hosts is kept")
        return self._list

    async def hosts(self, query: HostQuery) -> HostPage:
        page = self._pages.get(query)
        if page is None:
            page = await self._find_hosts(query)
            if len(self._pages) >= ANSWERS:
                self._pages.clear()
            self._pages[query] = page
        return page

    async def _find_hosts(self, query: HostQuery) -> HostPage:
        question = native_question(query)
        active = query.standing is HostStanding.ACTIVE
        among = await self._ask(lambda node: node.active_hosts()) if active else None
        # The list has its own locks: the crawl goes on while it is searched.
        found = await asyncio.to_thread(self._host_list().find, question, among)
        keys, place, matched, total = found
        rows = msgspec.json.decode(await self._ask(lambda node: node.hosts(keys)))
        return HostPage(
            hosts=[self._row(row) for row in rows],
            next=make_cursor(place, query.sort),
            matched=matched,
            total=total,
        )

    def _row(self, state: dict[str, Any]) -> HostRow:
        return host_row(state, node=NODE, quota=self._crawl.settings.limits.pages_per_host)

    async def host(self, name: str) -> HostRow:
        text = await self._ask(lambda node: node.host(name))
        if text is None:
            raise NotKnownError("no_such_host", f"nothing of the host {name[:100]} was ever queued")
        return self._row(msgspec.json.decode(text))

    async def why(self, url: str) -> UrlAccount:
        account = msgspec.json.decode(await self._ask(lambda node: node.why(url)))
        quota = self._crawl.settings.limits.pages_per_host
        rows: list[dict[str, object]] = []
        if "url" in account:
            rows = await asyncio.to_thread(visit_rows, self._out, account["url"])
        return url_account(account, node=NODE, quota=quota, visits=rows)

    # --- hosts

    async def host_command(self, name: str, command: HostCommand, who: str) -> HostRow:
        action = command.action
        check_host_command(command)
        if action in {HostAction.SLOW_DOWN, HostAction.SPEED_UP}:
            await self._set_gap(await self.host(name), command.seconds, who)
        else:
            wait = round((command.seconds or 0.0) * 1e6)
            known = await self._ask(lambda node: node.steer_host(name, action.value, wait))
            if not known:
                raise NotKnownError("no_such_host", f"the host {name[:100]} is not known")
        self._forget_answers()
        row = await self.host(name)
        words = f"{action.value} {row.name}"
        self._newsroom.tell(EventKind.HOST, words, node=NODE, host=row.name, who=who)
        return row

    # --- seeds

    async def submit_seeds(self, urls: list[str], who: str) -> SeedSubmission:
        if self._wanted == "stop":
            raise RefusedError("stopping", "the crawl is about to end")
        reasons = await self._ask(lambda node: node.add_seeds(urls))
        return await self._keep_seeds(urls, reasons, who)

    async def submission(self, number: int, offset: int, limit: int) -> SubmissionFates:
        submission = await asyncio.to_thread(self._seeds.get, number)
        seeds = submission.seeds[offset : offset + limit]
        urls = [seed.url for seed in seeds]
        visits = msgspec.json.decode(await self._ask(lambda node: node.last_visits(urls)))
        return fates(submission, offset, seeds, visits)

    # --- settings

    async def _catch_up(self) -> None:
        """Nobody else changes the settings of this crawl."""

    async def _change(self, asked: ChangeSettings, who: str, *, undoes: int | None) -> Change:
        after, change = self._changes.plan(self._crawl.settings, asked, who, undoes=undoes)
        try:
            # The native part checks what only it can (regular expressions, ranges), and applies.
            await self._crawl.apply(after)
        except SettingsError as error:
            raise WrongValueError("wrong_setting", str(error)) from error
        except GossamerError as error:
            raise UnreachableError("not_kept", str(error)) from error
        change = change.model_copy(update={"applied_by": [NODE]})
        await asyncio.to_thread(self._changes.keep, change)
        self._tell_change(change, who)
        return change

    # --- commands

    async def command(self, command: Command, who: str) -> CommandResult:
        reason = self._why_not(command)
        if reason is not None:
            raise RefusedError("not_available", reason)
        begun = time.monotonic()
        self._forget_answers()
        if command is Command.PAUSE:
            await self._ask(lambda node: node.set_paused(True))
            self._wanted = "pause"
        elif command is Command.RESUME:
            await self._ask(lambda node: node.set_paused(False))
            self._wanted = "run"
        elif command is Command.CHECKPOINT:
            await self._ask(lambda node: node.checkpoint())
        elif command is Command.RERANK:
            await self._ask(lambda node: node.rerank())
        else:
            self._wanted = "stop"
            self._crawl.stop_wanted = True
        self._newsroom.tell(TOLD[command], f"{command.value} by the operator", who=who)
        seconds = round(time.monotonic() - begun, 3)
        done = Confirmation(node=NODE, confirmed=True, seconds=seconds)
        return CommandResult(
            command=command, time=round(time.time(), 3), confirmed=True, nodes=[done]
        )
