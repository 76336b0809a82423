"""The service of a standalone crawl: one process, one node, the same API."""

import asyncio
import contextlib
import os
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, Literal, Self, TypeVar

import msgspec

import gossamer
from gossamer import _native
from gossamer.control.alerts import Alerts
from gossamer.control.changes import Changes, override
from gossamer.control.eta import time_left
from gossamer.control.history import Readings
from gossamer.control.hosting import host_row, make_cursor, native_question, url_account
from gossamer.control.newsroom import Newsroom
from gossamer.control.seedbook import SeedBook, fates
from gossamer.control.service import (
    NotKnownError,
    RefusedError,
    UnreachableError,
    WrongValueError,
)
from gossamer.control.shapes import (
    Alert,
    Change,
    ChangeSettings,
    Command,
    CommandInfo,
    CommandResult,
    Confirmation,
    ControlNodeView,
    Event,
    EventKind,
    EventPage,
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
    SettingsView,
    Status,
    SubmissionFates,
    SubmissionPage,
    UrlAccount,
    VisitLine,
)
from gossamer.control.shapes.hosts import HostStanding
from gossamer.errors import DiskFullError, GossamerError, SettingsError
from gossamer.model.progress import Activity, Progress
from gossamer.node.recent import recent_visits
from gossamer.node.standalone import Standalone

NODE = "standalone"
ANSWERS = 64
"""Answers that are kept for a second."""
VISITS = 10
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


class StandaloneService:
    """Sees and steers a crawl in this process. `take` is called with every reading."""

    def __init__(self, crawl: Standalone, out: Path) -> None:
        self._crawl = crawl
        self._out = out
        directory = out / "control"
        self._newsroom = Newsroom(directory / "events.jsonl")
        self._changes = Changes(directory / "settings.jsonl")
        self._seeds = SeedBook(directory / "seeds.jsonl")
        self._alerts = Alerts(self._newsroom)
        self._readings = Readings()
        self._progress: Progress | None = None
        self._heard = time.time()
        self._status: Status | None = None
        self._wanted: Literal["run", "pause", "stop"] = "run"
        self._begun = time.time()
        self._ticking: asyncio.Task[None] | None = None
        self._list: _native.HostList | None = None
        # Answers of this second: many who look at the same thing cost as one. Emptied by every
        # tick and every command.
        self._pages: dict[HostQuery, HostPage] = {}
        self._histories: dict[float, History] = {}
        # One change of settings at a time: each is checked against the one before it.
        self._changing = asyncio.Lock()

    async def __aenter__(self) -> Self:
        for part in (self._newsroom, self._changes, self._seeds):
            await asyncio.to_thread(part.open)
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
                self._status = status
                self._forget_answers()
                self._newsroom.show(status)
            await asyncio.sleep(1.0 - time.time() % 1.0)

    def _forget_answers(self) -> None:
        self._pages.clear()
        self._histories.clear()

    async def _read(self, progress: Progress) -> Status:
        now = time.time()
        free = await asyncio.to_thread(_free_bytes, self._out)
        pages = self._readings.rate("pages", now, progress.pages)
        visits = self._readings.rate("visits", now, progress.visits)
        left, ending = time_left(self._crawl.settings.limits, progress, pages, visits)
        counters = {
            name: getattr(progress, name)
            for name in (
                "activity", "pages", "bytes", "urls_seen", "urls_queued", "visits", "in_flight",
                "hosts_known", "hosts_active", "hosts_waiting", "hosts_set_aside", "hosts_blocked",
                "hosts_aliases", "outcomes", "rss", "disk", "seconds", "next_due", "note",
            )
        }  # fmt: skip
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
            control=[ControlNodeView(id=NODE, leads=True, last_heartbeat=round(now, 3))],
            **counters,
        )

    async def _ask(self, action: Callable[[_native.Node], T]) -> T:
        try:
            return await self._crawl.ask(action)
        except DiskFullError as error:
            raise RefusedError("disk_full", str(error)) from error
        except GossamerError as error:
            raise UnreachableError("no_answer", str(error)) from error

    # --- looking

    async def status(self) -> Status:
        if self._status is None:
            raise UnreachableError("not_ready", "the crawl has just begun; ask again")
        return self._status

    async def ready(self) -> str | None:
        if self._status is None:
            return "the crawl has just begun"
        silent = time.time() - self._heard
        return f"the crawl has not answered for {silent:.0f} s" if silent > 10 else None

    async def alerts(self) -> list[Alert]:
        return self._alerts.standing()

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
        lines = []
        if "url" in account:
            lines = await asyncio.to_thread(recent_visits, self._out, account["url"], VISITS)
        visits = [
            VisitLine(
                time=line.time, outcome=line.outcome, status=line.status, bytes=line.bytes,
                ms=line.ms or 0.0, ip=line.ip, found_on=line.from_url,
            )
            for line in lines
        ]  # fmt: skip
        return url_account(account, node=NODE, quota=quota, visits=visits)

    # --- hosts

    async def host_command(self, name: str, command: HostCommand, who: str) -> HostRow:
        action = command.action
        timed = action in {HostAction.SLOW_DOWN, HostAction.SET_ASIDE}
        if timed != (command.seconds is not None):
            word = "needs" if timed else "takes no"
            raise WrongValueError("seconds", f"{action.value} {word} `seconds`")
        if action in {HostAction.SLOW_DOWN, HostAction.SPEED_UP}:
            row = await self.host(name)
            values = override(self._crawl.settings, row.name, command.seconds)
            await self.change_settings(ChangeSettings(values=values), who)
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
        submission = await asyncio.to_thread(self._seeds.keep, urls, reasons, who)
        words = f"{submission.taken} seeds taken, {submission.refused} refused"
        self._newsroom.tell(EventKind.SEEDS, words, who=who, data={"submission": submission.id})
        return submission

    async def submissions(self, before: int | None, limit: int) -> SubmissionPage:
        return await asyncio.to_thread(self._seeds.page, before, limit)

    async def submission(self, number: int, offset: int, limit: int) -> SubmissionFates:
        submission = await asyncio.to_thread(self._seeds.get, number)
        seeds = submission.seeds[offset : offset + limit]
        urls = [seed.url for seed in seeds]
        visits = msgspec.json.decode(await self._ask(lambda node: node.last_visits(urls)))
        return fates(submission, offset, seeds, visits)

    # --- settings

    async def settings(self) -> SettingsView:
        return self._changes.view(self._crawl.settings)

    async def change_settings(self, change: ChangeSettings, who: str) -> Change:
        async with self._changing:
            return await self._change(change, who, undoes=None)

    async def undo_settings(self, version: int, who: str) -> Change:
        async with self._changing:
            return await self._change(self._changes.undoing(version), who, undoes=version)

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
        for value in change.values:
            words = f"{value.name}: {_short(value.old)} became {_short(value.new)}"
            data: dict[str, Any] = {"version": change.version, "name": value.name}
            self._newsroom.tell(EventKind.SETTING, words, who=who, data=data)
        return change

    async def setting_changes(self, before: int | None, limit: int) -> list[Change]:
        return await asyncio.to_thread(self._changes.last, before, limit)

    # --- commands

    async def commands(self) -> list[CommandInfo]:
        reasons = {command: self._why_not(command) for command in Command}
        return [
            CommandInfo(command=command, available=reason is None, reason=reason)
            for command, reason in reasons.items()
        ]

    def _why_not(self, command: Command) -> str | None:
        if command is Command.ADD_NODE:
            return _ONE_NODE
        if command is Command.RERANK:
            return "the order is breadth-first: there is nothing to rank anew"
        return "the crawl is about to end" if self._wanted == "stop" else None

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
        else:
            self._wanted = "stop"
            self._crawl.stop_wanted = True
        kinds = {
            Command.PAUSE: EventKind.PAUSED,
            Command.RESUME: EventKind.RESUMED,
            Command.STOP: EventKind.STOPPED,
            Command.CHECKPOINT: EventKind.CHECKPOINT,
        }
        self._newsroom.tell(kinds[command], f"{command.value} by the operator", who=who)
        seconds = round(time.monotonic() - begun, 3)
        done = Confirmation(node=NODE, confirmed=True, seconds=seconds)
        return CommandResult(
            command=command, time=round(time.time(), 3), confirmed=True, nodes=[done]
        )

    # --- events

    async def events(self, after: int | None, limit: int) -> EventPage:
        return self._newsroom.page(after, limit)

    def watch(self, after: int | None) -> AsyncIterator[Status | Event]:
        return self._newsroom.watch(after)


def _free_bytes(out: Path) -> int | None:
    try:
        room = os.statvfs(out)
    except OSError:
        return None
    return room.f_bavail * room.f_frsize


def _short(value: object) -> str:
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= 80 else f"{text[:77]}…"
