"""The service of a standalone crawl: one process, one node, the same API."""

import asyncio
import contextlib
import os
import time
from collections.abc import AsyncIterator, Callable, Collection
from pathlib import Path
from typing import Any, Self, TypeVar

import msgspec

import gossamer
from gossamer import _native
from gossamer.control.command_list import TOLD, CommandList, Wanted
from gossamer.control.event_log import EventLog
from gossamer.control.host_views import (
    QUEUE_SHOWN,
    check_host_command,
    host_detail,
    host_row,
    make_cursor,
    native_question,
    url_account,
)
from gossamer.control.monitor import COUNTERS, Monitor
from gossamer.control.pattern_views import pattern_page, taken_up, words
from gossamer.control.run_pages import run_page
from gossamer.control.running_crawl import NODE, RunningCrawl, StandaloneSettings
from gossamer.control.schemas import (
    Alert,
    Change,
    ChangeSettings,
    Command,
    CommandInfo,
    CommandResult,
    Confirmation,
    ControlNodeView,
    ControlState,
    Event,
    EventKind,
    EventPage,
    History,
    HostAction,
    HostCommand,
    HostDetail,
    HostPage,
    HostQuery,
    HostRow,
    NodeCommand,
    NodeState,
    NodeView,
    PartitionMap,
    PartitionView,
    PatternPage,
    PatternQuery,
    RunPage,
    SeedSubmission,
    SettingsView,
    Status,
    StoredPage,
    SubmissionFates,
    SubmissionPage,
    TakenUp,
    TakeUp,
    UrlAccount,
    VisitPage,
    VisitQuery,
)
from gossamer.control.schemas.hosts import HostStanding
from gossamer.control.schemas.status import door_views, inner_view, wait_views
from gossamer.control.service import (
    NotKnownError,
    RefusedError,
    UnreachableError,
)
from gossamer.control.setting_changes import SettingChanges
from gossamer.control.setting_history import SettingHistory
from gossamer.control.stored_pages import name_stored, stored_page, stored_place
from gossamer.control.submissions import Submissions, fates
from gossamer.control.visit_pages import read_cursor, visit_page, wanted
from gossamer.disk import free_bytes
from gossamer.errors import DiskFullError, GossamerError
from gossamer.library.log_search import Found, search_log
from gossamer.library.runs import read_runs
from gossamer.library.stored_text import stored_text
from gossamer.model.findings import findings
from gossamer.model.host_decisions import take_decisions
from gossamer.model.progress import Activity, Progress

ANSWERS = 64
"""Answers that are kept for a second."""
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

    def __init__(
        self,
        crawl: RunningCrawl,
        out: Path,
        visits: Callable[[Path, str], list[dict[str, object]]],
    ) -> None:
        """`visits`: the last lines of the log in a directory about a URL."""
        directory = out / "control"
        self._crawl = crawl
        self._out = out
        self._visits = visits
        self._event_log = EventLog(directory / "events.jsonl")
        self._monitor = Monitor(self._event_log)
        self._commands = CommandList(lambda: self._wanted, {Command.ADD_NODE: _ONE_NODE})
        self._submissions = Submissions(directory / "seeds.jsonl")
        self._history = SettingHistory(directory / "settings.jsonl")
        settings = StandaloneSettings(crawl, self._history)
        self._changes = SettingChanges(self._history, self._event_log, settings)
        self._progress: Progress | None = None
        self._heard = time.time()
        self._wanted: Wanted = "run"
        self._begun = time.time()
        self._url: str | None = None
        self._ticking: asyncio.Task[None] | None = None
        self._list: _native.HostList | None = None
        # Answers of this second: many who look at the same thing cost as one. Emptied by every
        # tick and every command.
        self._pages: dict[HostQuery, HostPage] = {}
        self._histories: dict[float, History] = {}

    async def __aenter__(self) -> Self:
        for part in (self._event_log, self._history, self._submissions):
            await asyncio.to_thread(part.open)
        self._list = self._crawl.node.host_list()
        self._event_log.tell(EventKind.STARTED, "the crawl began to work", node=NODE)
        self._ticking = asyncio.create_task(self._tick())
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._ticking is not None:
            self._ticking.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._ticking
        await self._tell_decisions()
        self.let_go()

    async def begun_with(self, seeds: list[str], refused: dict[str, str]) -> None:
        """The seeds that the command named, and why some were refused."""
        reasons = [refused.get(url) for url in seeds]
        await asyncio.to_thread(self._submissions.keep_first, seeds, reasons)

    def let_go(self) -> None:
        """The crawl ends: tells those who watch, and ends their streams."""
        if self._progress is not None and self._progress.activity is Activity.FINISHED:
            self._event_log.tell(EventKind.FINISHED, "nothing is left to crawl", node=NODE)
        self._progress = None
        self._event_log.close()

    def take(self, progress: Progress) -> None:
        """A reading of the node's counters."""
        self._progress = progress
        self._heard = time.time()

    async def _tick(self) -> None:
        while True:
            if self._progress is not None:
                status = await self._read(self._progress)
                self._monitor.take(status, [self._node(status)])
                self._forget_answers()
                self._event_log.show(status)
                await self._tell_decisions()
            await asyncio.sleep(1.0 - time.time() % 1.0)

    async def _tell_decisions(self) -> None:
        """What was decided about hosts and URL patterns becomes events."""
        # Where the node is closed already, there is nothing more to tell.
        with contextlib.suppress(GossamerError):
            for one in await self._crawl.ask(take_decisions):
                host = one.host or None
                self._event_log.tell(EventKind.HOST_DECIDED, one.words, node=NODE, host=host)

    def _forget_answers(self) -> None:
        self._pages.clear()
        self._histories.clear()

    async def _read(self, progress: Progress) -> Status:
        now = time.time()
        free = await asyncio.to_thread(free_bytes, self._out)
        pace = self._monitor.pace(now, progress, self._crawl.settings.limits)
        return Status(
            time=round(now, 3),
            mode="standalone",
            crawl=self._out.name or str(self._out),
            version=gossamer.__version__,
            wanted=self._wanted,
            disk_free=free,
            pages_per_second=pace.pages,
            bytes_per_second=pace.bytes,
            eta_seconds=pace.eta_seconds,
            eta_from=pace.eta_from,
            nodes=1,
            settings_version=self._history.version,
            alerts=len(self._monitor.alerts.standing()),
            control=[self._control_node(now)],
            activity=progress.activity,
            note=progress.note,
            doors=door_views(progress.doors),
            waits=wait_views(progress.waits),
            inner=inner_view(progress.inner),
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

    # --- looking

    async def ready(self) -> str | None:
        if self._monitor.last is None:
            return "the crawl has just begun"
        silent = time.time() - self._heard
        return f"the crawl has not answered for {silent:.0f} s" if silent > 10 else None

    async def status(self) -> Status:
        return self._monitor.status()

    async def control_nodes(self) -> list[ControlNodeView]:
        return self._monitor.status().control

    async def alerts(self) -> list[Alert]:
        return self._monitor.alerts.standing()

    async def events(
        self, after: int | None, limit: int, kinds: Collection[EventKind] = ()
    ) -> EventPage:
        return self._event_log.page(after, limit, kinds)

    def watch(self, after: int | None) -> AsyncIterator[Status | Event]:
        return self._event_log.watch(after)

    async def history(self, seconds: float) -> History:
        if seconds not in self._histories:
            if len(self._histories) >= ANSWERS:
                self._histories.clear()
            self._histories[seconds] = self._monitor.readings.page(seconds, time.time())
        return self._histories[seconds]

    async def runs(self, before: int | None, limit: int) -> RunPage:
        pages = self._progress.pages if self._progress is not None else None
        return run_page(await asyncio.to_thread(read_runs, self._out, pages=pages), before, limit)

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
            settings_version=self._history.version,
            note=status.note,
            inner=status.inner,
        )

    async def nodes(self) -> list[NodeView]:
        return [self._node(await self.status())]

    async def node_history(self, node: str, seconds: float) -> History:
        return self._monitor.node_history(node, seconds, time.time())

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
            raise UnreachableError("no_list", "no list of hosts is kept", again=None)
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
            next=make_cursor(place, query),
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
            rows = await asyncio.to_thread(self._visits, self._out, account["url"])
            await asyncio.to_thread(name_stored, self._out, account)
        version = self._history.changed_in("rule")
        return url_account(account, node=NODE, quota=quota, rules_version=version, visits=rows)

    async def host_detail(self, name: str) -> HostDetail:
        text = await self._ask(lambda node: node.host_detail(name, QUEUE_SHOWN))
        if text is None:
            raise NotKnownError("no_such_host", f"nothing of the host {name[:100]} was ever queued")
        return host_detail(msgspec.json.decode(text))

    async def visits(self, query: VisitQuery) -> VisitPage:
        before = read_cursor(query.cursor)
        found = Found([], [], None, None)
        if before is None or before.get(NODE) is not None:
            place = before[NODE] if before else None
            found = await asyncio.to_thread(
                search_log, self._out, wanted(query), place, query.limit
            )
        return visit_page({NODE: found}, before, query.limit)

    async def stored_page(self, url: str) -> StoredPage:
        account = msgspec.json.decode(await self._ask(lambda node: node.why(url)))
        serial, offset = stored_place(account)
        text = await asyncio.to_thread(stored_text, self._out, account["url"], serial, offset)
        return stored_page(account["url"], NODE, text)

    # --- hosts

    async def patterns(self, query: PatternQuery) -> PatternPage:
        found = await self._ask(lambda node: findings(node, query.limit, query.host))
        return pattern_page([(NODE, found)], query.limit)

    async def take_up(self, asked: TakeUp, who: str) -> TakenUp:
        taken = taken_up(
            asked, *await self._ask(lambda node: node.take_up(asked.host, asked.pattern))
        )
        self._forget_answers()
        told = words(taken, asked)
        self._event_log.tell(EventKind.HOST, told, node=NODE, host=asked.host, who=who)
        return taken

    async def host_command(self, name: str, command: HostCommand, who: str) -> HostRow:
        action = command.action
        check_host_command(command)
        if action in {HostAction.SLOW_DOWN, HostAction.SPEED_UP}:
            await self._changes.set_gap(await self.host(name), command.seconds, who)
        else:
            wait = round((command.seconds or 0.0) * 1e6)
            known = await self._ask(lambda node: node.steer_host(name, action.value, wait))
            if not known:
                raise NotKnownError("no_such_host", f"the host {name[:100]} is not known")
        self._forget_answers()
        row = await self.host(name)
        words = f"{action.value} {row.name}"
        self._event_log.tell(EventKind.HOST, words, node=NODE, host=row.name, who=who)
        return row

    # --- seeds

    async def submit_seeds(self, urls: list[str], who: str) -> SeedSubmission:
        if self._wanted == "stop":
            raise RefusedError("stopping", "the crawl is about to end")
        reasons = await self._ask(lambda node: node.add_seeds(urls))
        submission = await self._submissions.submit(urls, reasons, who)
        self._event_log.tell_submission(submission)
        return submission

    async def submissions(self, before: int | None, limit: int) -> SubmissionPage:
        return await asyncio.to_thread(self._submissions.page, before, limit)

    async def submission(self, number: int, offset: int, limit: int) -> SubmissionFates:
        submission = await asyncio.to_thread(self._submissions.get, number)
        seeds = submission.seeds[offset : offset + limit]
        urls = [seed.url for seed in seeds]
        visits = msgspec.json.decode(await self._ask(lambda node: node.last_visits(urls)))
        return fates(submission, offset, seeds, visits)

    # --- settings

    async def settings(self) -> SettingsView:
        return self._changes.view()

    async def change_settings(self, change: ChangeSettings, who: str) -> Change:
        return await self._changes.change(change, who)

    async def undo_settings(self, version: int, who: str) -> Change:
        return await self._changes.undo(version, who)

    async def setting_changes(self, before: int | None, limit: int) -> list[Change]:
        return await self._changes.last(before, limit)

    # --- commands

    async def commands(self) -> list[CommandInfo]:
        return self._commands.all()

    async def command(self, command: Command, who: str) -> CommandResult:
        self._commands.check(command)
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
        self._event_log.tell(TOLD[command], f"{command.value} by the operator", who=who)
        seconds = round(time.monotonic() - begun, 3)
        done = Confirmation(node=NODE, confirmed=True, seconds=seconds)
        return CommandResult(
            command=command, time=round(time.time(), 3), confirmed=True, nodes=[done]
        )
