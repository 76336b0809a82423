"""The service of a cluster: any control node sees everything, and steers through the engine.

Reading: sums of the nodes' own counters, which each tells twice a second; lists of hosts are asked of
the nodes, each answers from memory, and the pages are merged. Changing: what is wanted goes into the
engine by compare-and-set, from whichever control node serves; seeds and removals are the leading one's.
"""

import asyncio
import contextlib
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from functools import partial
from pathlib import Path
from typing import Self

import gossamer
from gossamer.clock import SYSTEM, Clock
from gossamer.cluster.messages import Happened, Pause, Shutdown, decode_event
from gossamer.cluster.requests import ask_control
from gossamer.control.cluster_settings import ClusterSettings
from gossamer.control.command_list import TOLD, CommandList, Wanted
from gossamer.control.confirmations import ConfirmedCommands
from gossamer.control.event_log import EventCopy, EventLog
from gossamer.control.host_queries import HostQueries
from gossamer.control.host_views import check_host_command
from gossamer.control.leader.control_node import ControlNode
from gossamer.control.leader.membership import Presence
from gossamer.control.monitor import COUNTERS, Monitor
from gossamer.control.node_views import NodeViews
from gossamer.control.partition_sizes import PartitionSizes
from gossamer.control.pattern_views import words
from gossamer.control.replicated_logs import ReplicatedLogs
from gossamer.control.run_pages import run_page
from gossamer.control.schemas import (
    Alert,
    Change,
    ChangeSettings,
    Command,
    CommandInfo,
    CommandResult,
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
from gossamer.control.schemas.status import door_views, inner_view, wait_views
from gossamer.control.service import (
    NotKnownError,
    RefusedError,
    UnreachableError,
    service_error,
)
from gossamer.control.setting_changes import SettingChanges
from gossamer.control.setting_history import SettingHistory
from gossamer.control.submissions import FIRST, MOST_FIRST, Submissions, fates, made
from gossamer.errors import GossamerError
from gossamer.library.runs import read_runs
from gossamer.model.progress import Activity, Progress

HAPPENED = {"handed_over": EventKind.HAND_OVER, "host_decided": EventKind.HOST_DECIDED}
"""What nodes tell, where it has a kind of its own."""

STALE = 10.0
"""Seconds after which a reading says nothing about now."""


class ClusterService:
    """Sees and steers a cluster. Safe on every control node, leading or not."""

    def __init__(
        self,
        node: ControlNode,
        directory: Path,
        logs: ReplicatedLogs,
        clock: Clock = SYSTEM,
        *,
        crawl: Path | None = None,
    ) -> None:
        """`clock`: the control node's. `crawl`: the directory of the crawl, if `gossamer cluster` runs it."""
        self._node = node
        self._crawl = crawl
        self._clock = clock
        self._logs = logs
        self._event_log = EventLog(directory / "events.jsonl", partial(logs.post, "events"))
        self._monitor = Monitor(self._event_log, clock)
        self._node_views = NodeViews(node, self._event_log, clock)
        self._hosts = HostQueries(node)
        self._confirmed = ConfirmedCommands(node, clock)
        self._commands = CommandList(self._wanted)
        self._submissions = Submissions(directory / "submissions.jsonl", logs)
        self._history = SettingHistory(directory / "settings.jsonl")
        self._settings = ClusterSettings(node, self._history, self._confirmed)
        self._changes = SettingChanges(self._history, self._event_log, self._settings)
        self._sizes = PartitionSizes(node, clock)
        self._led = False
        self._tasks: list[asyncio.Task[None]] = []
        self._end_listening: Callable[[], Awaitable[None]] | None = None

    async def __aenter__(self) -> Self:
        for part in (self._event_log, self._history, self._submissions):
            await asyncio.to_thread(part.open)
        for event in self._event_log.events():
            self._learn(event)
        self._logs.follow("events", EventCopy(self._event_log, self._learn))
        self._logs.follow("submissions", self._submissions)
        engine = self._node.engine
        self._end_listening = await engine.listen(engine.names.event("*"), self._note_event)
        self._tasks = [asyncio.create_task(self._tick())]
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._end_listening is not None:
            with contextlib.suppress(Exception):
                await self._end_listening()
        self.let_go()

    def let_go(self) -> None:
        """Ends the streams of those who watch."""
        self._event_log.close()

    # --- what goes on by itself

    def _note_event(self, subject: str, data: bytes) -> None:
        with contextlib.suppress(GossamerError):
            event = decode_event(data)
            node = subject.rpartition(".")[2]
            if isinstance(event, Happened):
                kind = HAPPENED.get(event.kind, EventKind.CONTROL)
                text = event.text if event.host else f"{event.kind}: {event.text}"
                # Every control node hears it, and it is kept once.
                key = hashlib.blake2b(data, digest_size=12, person=b"event").hexdigest()
                self._event_log.tell(kind, text, node=node, host=event.host, key=key)

    def _learn(self, event: Event) -> None:
        """What was told of nodes and alerts, by whoever led then."""
        self._monitor.alerts.learn(event)
        self._monitor.outages.learn(event)
        self._node_views.learn(event)

    async def _tick(self) -> None:
        while True:
            # Whatever goes wrong with one reading, the next one is taken; `ready` tells if none is.
            with contextlib.suppress(GossamerError, OSError, ValueError):
                if not self._changes.busy:
                    await self._settings.sync()
                self._take()
            self._led = self._led and self._node.leading
            await asyncio.sleep(1.0 - self._clock.now() % 1.0)

    def _take(self) -> None:
        """A reading of everything."""
        status, nodes = self._read(), self._node_views.all()
        # Only who leads tells, and only what was not told already.
        tell = self._node.leading and self._logs.complete("events")
        if tell:
            if not self._led:
                name = self._node.name
                self._event_log.tell(EventKind.CONTROL, f"control node {name} leads", node=name)
                self._led = True
            self._node_views.tell(nodes)
        self._monitor.take(
            status,
            nodes,
            troubles=self._node.overview.troubles(),
            missed=self._node.standbys.missed(),
            doors={node: door_views(doors) for node, doors in self._node.overview.doors().items()},
            tell=tell,
        )
        self._event_log.show(status)

    def _read(self) -> Status:
        summary = self._node.overview.summary()
        progress, now = summary.progress, self._clock.now()
        pace = self._monitor.pace(now, progress, self._settings.settings().limits)
        living = self._node.membership.living()
        free = [known.status.disk_free for known in living if known.status]
        return Status(
            time=round(now, 3),
            mode="cluster",
            crawl=summary.crawl,
            version=gossamer.__version__,
            activity=_activity(summary.state, progress),
            wanted=self._wanted(),
            disk_free=min((room for room in free if room is not None), default=None),
            pages_per_second=pace.pages,
            bytes_per_second=pace.bytes,
            eta_seconds=pace.eta_seconds,
            eta_from=pace.eta_from,
            nodes=len(living),
            settings_version=self._history.version,
            alerts=len(self._monitor.alerts.standing()),
            control=self._controls(),
            note=summary.error or progress.note,
            doors=door_views(progress.doors),
            waits=wait_views(progress.waits),
            inner=inner_view(progress.inner),
            **{name: getattr(progress, name) for name in COUNTERS},
        )

    def _wanted(self) -> Wanted:
        wanted = self._node.state.wanted
        if isinstance(wanted, Shutdown):
            return "stop"
        return "pause" if isinstance(wanted, Pause) else "run"

    def _controls(self) -> list[ControlNodeView]:
        return [
            ControlNodeView(
                id=line.control,
                leads=line.state == "leads",
                state=ControlState(line.state),
                url=line.url or None,
                since=line.since and round(line.since, 3),
                last_heartbeat=round(line.time, 3),
                version=line.program or None,
            )
            for line in self._node.overview.control_nodes()
        ]

    # --- looking

    async def ready(self) -> str | None:
        late = self._monitor.age()
        if late is None:
            return "the control node has just begun"
        if late > STALE:
            return f"the last reading is {late:.0f} s old"
        return self._node.overview.summary().error or None

    async def status(self) -> Status:
        return self._monitor.status()

    async def alerts(self) -> list[Alert]:
        return self._monitor.alerts.standing()

    async def history(self, seconds: float) -> History:
        return self._monitor.readings.page(seconds, self._clock.now())

    async def events(
        self, after: int | None, limit: int, kinds: Collection[EventKind] = ()
    ) -> EventPage:
        return self._event_log.page(after, limit, kinds)

    def watch(self, after: int | None) -> AsyncIterator[Status | Event]:
        return self._event_log.watch(after)

    async def runs(self, before: int | None, limit: int) -> RunPage:
        if self._crawl is None:
            return run_page([], before, limit)
        last = self._monitor.last
        pages = last.pages if last is not None else None
        return run_page(await asyncio.to_thread(read_runs, self._crawl, pages=pages), before, limit)

    async def control_nodes(self) -> list[ControlNodeView]:
        return self._monitor.status().control

    async def nodes(self) -> list[NodeView]:
        return self._node_views.all()

    async def node_history(self, node: str, seconds: float) -> History:
        return self._monitor.node_history(node, seconds, self._clock.now())

    async def partitions(self) -> PartitionMap:
        value = self._node.state.map
        if value is None:
            raise UnreachableError("not_ready", "there is no map of partitions yet")
        sizes = await self._sizes.now()
        nothing = (0, 0, 0)
        rows = []
        for number, row in enumerate(value.rows):
            hosts, queued, pages = sizes.get(number, nothing)
            rows.append(
                PartitionView(
                    partition=number, node=row.owner or None, epoch=row.epoch,
                    to=row.to or None, hosts=hosts, queued=queued, pages=pages,
                )
            )  # fmt: skip
        return PartitionMap(epoch=value.epoch, partitions=rows)

    async def hosts(self, query: HostQuery) -> HostPage:
        return await self._hosts.page(query)

    async def host(self, name: str) -> HostRow:
        return await self._hosts.row(name)

    async def host_detail(self, name: str) -> HostDetail:
        return await self._hosts.detail(name)

    async def visits(self, query: VisitQuery) -> VisitPage:
        return await self._hosts.visits(query)

    async def stored_page(self, url: str) -> StoredPage:
        return await self._hosts.stored_page(url)

    async def why(self, url: str) -> UrlAccount:
        return await self._hosts.why(url, self._history.changed_in("rule"))

    # --- nodes and hosts

    async def node_command(self, node: str, command: NodeCommand, who: str) -> NodeView:
        before, presence = self._node_views.get(node), self._node.commands.presence(node)
        if presence is Presence.NONE:
            raise NotKnownError("no_such_node", f"there is no node {node[:100]}")
        if presence is Presence.LOST and command is not NodeCommand.REMOVE:
            raise RefusedError("not_done", f"{node} is lost; it can only be removed")
        try:
            if command is NodeCommand.REMOVE:
                await ask_control(self._node.engine, "remove", {"node": node}, audited=True)
            else:
                await self._confirmed.hold(node, hold=command is NodeCommand.PAUSE)
        except GossamerError as error:
            raise service_error(error) from error
        self._event_log.tell(EventKind.CONTROL, f"{command.value} {node}", node=node, who=who)
        after = self._node_views.get(node) or before
        if after is None:
            raise UnreachableError(
                "no_answer", f"{command.value} {node}: done; nothing is known of it"
            )
        return after

    async def patterns(self, query: PatternQuery) -> PatternPage:
        return await self._hosts.patterns(query)

    async def take_up(self, asked: TakeUp, who: str) -> TakenUp:
        node, taken = await self._hosts.take_up(asked)
        told = words(taken, asked)
        self._event_log.tell(EventKind.HOST, told, node=node, host=asked.host, who=who)
        return taken

    async def host_command(self, name: str, command: HostCommand, who: str) -> HostRow:
        action = command.action
        check_host_command(command)
        if action in {HostAction.SLOW_DOWN, HostAction.SPEED_UP}:
            await self._changes.set_gap(await self.host(name), command.seconds, who)
        else:
            await self._hosts.steer(name, action, command.seconds or 0.0)
        row = await self.host(name)
        words = f"{action.value} {row.name}"
        self._event_log.tell(EventKind.HOST, words, node=row.node, host=row.name, who=who)
        return row

    # --- seeds

    async def submit_seeds(self, urls: list[str], who: str) -> SeedSubmission:
        if self._wanted() == "stop":
            raise RefusedError("stopping", "the crawl is about to end")
        try:
            engine = self._node.engine
            refused = dict(await ask_control(engine, "seeds", {"urls": urls}, audited=True))
        except GossamerError as error:
            raise service_error(error) from error
        reasons = [refused.get(url) for url in urls]
        submission = await self._submissions.submit(urls, reasons, who)
        self._event_log.tell_submission(submission)
        return submission

    async def submissions(self, before: int | None, limit: int) -> SubmissionPage:
        return await asyncio.to_thread(self._submissions.page, before, limit)

    async def submission(self, number: int, offset: int, limit: int) -> SubmissionFates:
        try:
            submission = await self._submission(number)
        except NotKnownError as error:
            if self._logs.complete("submissions"):
                raise
            words = "the submissions were not read from the engine yet"
            raise UnreachableError("no_answer", words) from error
        seeds = submission.seeds[offset : offset + limit]
        visits = await self._hosts.last_visits([seed.url if seed.taken else None for seed in seeds])
        return fates(submission, offset, seeds, visits)

    async def _submission(self, number: int) -> SeedSubmission:
        if number == FIRST:
            urls = self._node.seeds.first(MOST_FIRST)
            return made(urls, [None] * len(urls), "command line")
        return await asyncio.to_thread(self._submissions.get, number)

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
        try:
            nodes = await self._confirmed.give(command)
        except GossamerError as error:
            raise service_error(error) from error
        self._event_log.tell(TOLD[command], f"{command.value} by the operator", who=who)
        return CommandResult(
            command=command,
            time=round(self._clock.now(), 3),
            confirmed=bool(nodes) and all(row.confirmed for row in nodes),
            nodes=nodes,
        )


def _activity(state: str, progress: Progress) -> Activity:
    if state == "finished":
        ended = {Activity.FINISHED, Activity.LIMIT_REACHED}
        return progress.activity if progress.activity in ended else Activity.FINISHED
    if state == "paused":
        return Activity.PAUSED
    return progress.activity if progress.activity is Activity.DISK_FULL else Activity.RUNNING
