"""The service of a cluster: any control node sees everything, and steers through the engine.

Reading: sums of the nodes' own counters, which each tells twice a second; lists of hosts are asked of
the nodes, each answers from memory, and the pages are merged. Changing: what is wanted goes into the
engine by compare-and-set, from whichever control node serves; seeds and removals are the leading one's.
"""

import asyncio
import contextlib
import hashlib
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Literal, Self

from pydantic import JsonValue

import gossamer
from gossamer.cluster.messages import Happened, Pause, Shutdown, decode_event
from gossamer.control.answers import ask_control
from gossamer.control.desk import COUNTERS, TOLD, Desk, check_host_command
from gossamer.control.eta import time_left
from gossamer.control.newsroom import EventShelf
from gossamer.control.orders import Orders
from gossamer.control.overseer import Overseer
from gossamer.control.owners import Owners
from gossamer.control.records import Records
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
    ControlNodeView,
    ControlState,
    Event,
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
from gossamer.errors import ConflictError, EngineError, GossamerError, SettingsError, UsageError
from gossamer.model.progress import Activity, Progress
from gossamer.settings import CrawlSettings

STALE = 10.0
"""Seconds after which a reading says nothing about now."""

SIZES_EVERY = 5.0
RATE_SPAN = 10.0

_STATES = {
    "joining": NodeState.JOINING,
    "running": NodeState.RUNNING,
    "pausing": NodeState.RUNNING,
    "paused": NodeState.PAUSED,
    "leaving": NodeState.LEAVING,
    "fenced": NodeState.SILENT,
    "silent": NodeState.SILENT,
    "out": NodeState.LOST,
}


class ClusterService(Desk):
    """Sees and steers a cluster. Safe on every control node, leading or not."""

    def __init__(self, overseer: Overseer, directory: Path, records: Records) -> None:
        super().__init__(directory, "submissions.jsonl", records)
        self._overseer, self._kept = overseer, records
        self._owners = Owners(overseer)
        self._orders = Orders(overseer)
        self._rates: dict[str, list[tuple[float, int]]] = {}
        self._sizes: dict[int, tuple[int, int, int]] = {}
        self._states: dict[str, str] = {}
        self._led = False
        self._tasks: list[asyncio.Task[None]] = []
        self._end_listening: Callable[[], Awaitable[None]] | None = None

    async def __aenter__(self) -> Self:
        await self._open()
        for event in self._newsroom.events():
            self._learn(event)
        self._kept.follow("events", EventShelf(self._newsroom, self._learn))
        self._kept.follow("submissions", self._seeds)
        engine = self._overseer.engine
        self._end_listening = await engine.listen(engine.names.event("*"), self._note_event)
        self._tasks = [asyncio.create_task(one) for one in (self._tick(), self._measure())]
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
        self._newsroom.close()

    # --- what goes on by itself

    def _note_event(self, subject: str, data: bytes) -> None:
        with contextlib.suppress(GossamerError):
            event = decode_event(data)
            node = subject.rpartition(".")[2]
            if isinstance(event, Happened):
                kind = EventKind.HAND_OVER if event.kind == "handed_over" else EventKind.CONTROL
                # Every control node hears it, and it is kept once.
                key = hashlib.blake2b(data, digest_size=12, person=b"event").hexdigest()
                self._newsroom.tell(kind, f"{event.kind}: {event.text}", node=node, key=key)

    def _learn(self, event: Event) -> None:
        """What was told of nodes and alerts, by whoever led then."""
        self._alerts.learn(event)
        state = event.data.get("state")
        if event.node is not None and isinstance(state, str):
            self._states[event.node] = state
        if event.kind is EventKind.NODE_LEFT and event.node is not None:
            self._states.pop(event.node, None)

    async def _tick(self) -> None:
        while True:
            # Whatever goes wrong with one reading, the next one is taken; `ready` tells if none is.
            with contextlib.suppress(GossamerError, OSError, ValueError):
                if not self._changing.locked():
                    await self._sync_changes()
                status = self._read()
                nodes = self._node_views()
                # Only who leads tells, and only what was not told already.
                tell = self._overseer.leading and self._kept.complete("events")
                if tell:
                    self._tell_states(nodes)
                self._readings.add(status)
                troubles, missed = self._overseer.troubles(), self._overseer.missed()
                self._alerts.judge(
                    status, nodes, self._readings, troubles=troubles, missed=missed, tell=tell
                )
                self._keep(status, tell=tell)
                self._newsroom.show(status)
            self._led = self._led and self._overseer.leading
            await asyncio.sleep(1.0 - time.time() % 1.0)

    def _tell_states(self, nodes: list[NodeView]) -> None:
        if not self._led:
            own = self._overseer.control
            self._newsroom.tell(EventKind.CONTROL, f"control node {own} leads", node=own)
            self._led = True
        for node in nodes:
            before = self._states.get(node.id)
            if before != node.state.value:
                words = f"{node.id} is {node.state.value}" + (f", was {before}" if before else "")
                kind = EventKind.NODE_JOINED if before is None else EventKind.CONTROL
                kind = EventKind.NODE_SILENT if node.state is NodeState.SILENT else kind
                kind = EventKind.NODE_FAILED if node.state is NodeState.LOST else kind
                data: dict[str, JsonValue] = {"state": node.state.value}
                self._newsroom.tell(kind, words, node=node.id, data=data)
                self._states[node.id] = node.state.value
        for gone in set(self._states) - {node.id for node in nodes}:
            self._newsroom.tell(EventKind.NODE_LEFT, f"{gone} is gone", node=gone)
            del self._states[gone]

    async def _measure(self) -> None:
        """Sizes of partitions, from each owner's counters."""
        while True:
            answers: dict[str, object] = {}
            with contextlib.suppress(GossamerError):
                answers = await self._overseer.ask_all("partition_sizes")
            value = self._overseer.partitions()
            for node, sizes in answers.items():
                if value is None or not isinstance(sizes, list):
                    continue
                for number, row in enumerate(value.rows):
                    if row.owner == node and number < len(sizes):
                        hosts, queued, pages = sizes[number]
                        self._sizes[number] = (hosts, queued, pages)
            await asyncio.sleep(SIZES_EVERY)

    async def _sync_changes(self) -> None:
        """The history of settings is in the engine and in every control node's own file."""
        bucket = self._overseer.crawls
        crawl = self._overseer.crawl
        if crawl is None or crawl.change <= self._changes.version:
            return
        with contextlib.suppress(EngineError, ValueError):
            for version in range(self._changes.version + 1, crawl.change + 1):
                entry = await bucket.get(f"change.{version}")
                known = entry.value if entry else b""
                if version == crawl.change:
                    known = crawl.account.encode()
                if known:
                    change = Change.model_validate_json(known)
                else:
                    # Made by a command that keeps no account of it.
                    change = Change(
                        version=version, time=round(time.time(), 3), who="unknown",
                        undoes=None, values=[],
                    )  # fmt: skip
                await asyncio.to_thread(self._changes.keep, change)

    # --- looking

    def _rate(self, name: str, pages: int) -> float:
        now = time.monotonic()
        row = self._rates.setdefault(name, [])
        row.append((now, pages))
        while len(row) > 1 and now - row[0][0] > RATE_SPAN:
            row.pop(0)
        passed = now - row[0][0]
        return max(0.0, (pages - row[0][1]) / passed) if passed > 0.5 else 0.0

    def _read(self) -> Status:
        summary = self._overseer.summary()
        progress, now = summary.progress, time.time()
        pages = self._readings.rate("pages", now, progress.pages)
        visits = self._readings.rate("visits", now, progress.visits)
        left, ending = time_left(self._settings().limits, progress, pages, visits)
        free = [known.status.disk_free for known in self._overseer.living() if known.status]
        return Status(
            time=round(now, 3),
            mode="cluster",
            crawl=summary.crawl,
            version=gossamer.__version__,
            activity=_activity(summary.state, progress),
            wanted=self._wanted_now(),
            disk_free=min((room for room in free if room is not None), default=None),
            pages_per_second=round(pages, 2),
            bytes_per_second=round(self._readings.rate("bytes", now, progress.bytes), 1),
            eta_seconds=left,
            eta_from=ending,
            nodes=len(self._overseer.living()),
            settings_version=self._changes.version,
            alerts=len(self._alerts.standing()),
            control=self._controls(),
            note=summary.error or progress.note,
            **{name: getattr(progress, name) for name in COUNTERS},
        )

    def _settings(self) -> CrawlSettings:
        return self._overseer.settings()

    def _wanted_now(self) -> Literal["run", "pause", "stop"]:
        wanted = self._overseer.wanted
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
            for line in self._overseer.controls()
        ]

    async def ready(self) -> str | None:
        if self._status is None:
            return "the control node has just begun"
        late = time.time() - self._status.time
        if late > STALE:
            return f"the last reading is {late:.0f} s old"
        return self._overseer.summary().error or None

    async def history(self, seconds: float) -> History:
        return self._readings.page(seconds, time.time())

    def _node_views(self) -> list[NodeView]:
        return [
            self._node_view(line.node, line.state, line.partitions, line.notes)
            for line in self._overseer.nodes()
            if line.state not in {"left", "refused"}
        ]

    def _node_view(self, name: str, state: str, partitions: int, notes: list[str]) -> NodeView:
        known = self._overseer.roster.nodes.get(name)
        status = known.status if known else None
        progress = status.progress if status else None
        word = known.word.time if known and known.word else time.time()
        heard = time.time() - (time.monotonic() - known.status_at) if known and status else word
        shown = _STATES.get(state, NodeState.SILENT)
        if progress is not None and progress.activity is Activity.DISK_FULL:
            shown = NodeState.DISK_FULL
        return NodeView(
            id=name,
            state=shown,
            address=(status.host or None) if status else None,
            pid=status.pid or None if status else None,
            version=gossamer.__version__,
            uptime=round(time.time() - status.started, 1) if status else 0.0,
            last_heartbeat=round(heard, 3),
            pages=progress.pages if progress else 0,
            bytes=progress.bytes if progress else 0,
            urls_seen=progress.urls_seen if progress else 0,
            urls_queued=progress.urls_queued if progress else 0,
            in_flight=progress.in_flight if progress else 0,
            hosts_known=progress.hosts_known if progress else 0,
            pages_per_second=round(self._rate(name, progress.pages if progress else 0), 2),
            rss=progress.rss if progress else 0,
            disk=progress.disk if progress else 0,
            disk_free=status.disk_free if status else None,
            partitions=partitions,
            settings_version=status.settings if status else 0,
            note="; ".join(notes),
        )

    async def nodes(self) -> list[NodeView]:
        return self._node_views()

    async def partitions(self) -> PartitionMap:
        value = self._overseer.partitions()
        if value is None:
            raise UnreachableError("not_ready", "there is no map of partitions yet")
        nothing = (0, 0, 0)
        rows = []
        for number, row in enumerate(value.rows):
            hosts, queued, pages = self._sizes.get(number, nothing)
            rows.append(
                PartitionView(
                    partition=number, node=row.owner or None, epoch=row.epoch,
                    to=row.to or None, hosts=hosts, queued=queued, pages=pages,
                )
            )  # fmt: skip
        return PartitionMap(epoch=value.epoch, partitions=rows)

    # --- nodes

    async def node_command(self, node: str, command: NodeCommand, who: str) -> NodeView:
        known = self._overseer.roster.nodes.get(node)
        before = [view for view in self._node_views() if view.id == node]
        if known is None or not before:
            raise NotKnownError("no_such_node", f"there is no node {node[:100]}")
        if not known.alive and command is not NodeCommand.REMOVE:
            raise RefusedError("not_done", f"{node} is lost; it can only be removed")
        try:
            if command is NodeCommand.REMOVE:
                engine = self._overseer.engine
                await ask_control(engine, "remove", {"node": node}, audited=True)
            else:
                hold = command is NodeCommand.PAUSE
                await self._orders.hold(node, hold=hold)
        except UsageError as error:
            raise RefusedError("not_done", str(error)) from error
        except EngineError as error:
            raise UnreachableError("no_answer", str(error)) from error
        self._newsroom.tell(EventKind.CONTROL, f"{command.value} {node}", node=node, who=who)
        after = [view for view in self._node_views() if view.id == node]
        return (after or before)[0]

    # --- hosts and URLs

    async def hosts(self, query: HostQuery) -> HostPage:
        return await self._owners.page(query)

    async def host(self, name: str) -> HostRow:
        return await self._owners.row(name)

    async def why(self, url: str) -> UrlAccount:
        return await self._owners.why(url)

    async def host_command(self, name: str, command: HostCommand, who: str) -> HostRow:
        action = command.action
        check_host_command(command)
        if action in {HostAction.SLOW_DOWN, HostAction.SPEED_UP}:
            await self._set_gap(await self.host(name), command.seconds, who)
        else:
            await self._owners.steer(name, action, command.seconds or 0.0)
        row = await self.host(name)
        words = f"{action.value} {row.name}"
        self._newsroom.tell(EventKind.HOST, words, node=row.node, host=row.name, who=who)
        return row

    # --- seeds

    async def submit_seeds(self, urls: list[str], who: str) -> SeedSubmission:
        if self._wanted_now() == "stop":
            raise RefusedError("stopping", "the crawl is about to end")
        try:
            engine = self._overseer.engine
            refused = dict(await ask_control(engine, "seeds", {"urls": urls}, audited=True))
        except UsageError as error:
            raise RefusedError("not_done", str(error)) from error
        except EngineError as error:
            raise UnreachableError("no_answer", str(error)) from error
        reasons = [refused.get(url) for url in urls]
        return await self._keep_seeds(urls, reasons, who)

    async def submission(self, number: int, offset: int, limit: int) -> SubmissionFates:
        submission = await asyncio.to_thread(self._seeds.get, number)
        seeds = submission.seeds[offset : offset + limit]
        visits = await self._owners.last_visits(
            [seed.url if seed.taken else None for seed in seeds]
        )
        return fates(submission, offset, seeds, visits)

    # --- settings

    async def _catch_up(self) -> None:
        try:
            await self._overseer.follow_settings()
        except EngineError as error:
            raise UnreachableError("no_answer", str(error)) from error
        await self._sync_changes()

    async def _change(self, asked: ChangeSettings, who: str, *, undoes: int | None) -> Change:
        after, change = self._changes.plan(self._settings(), asked, who, undoes=undoes)
        try:
            await asyncio.to_thread(self._overseer.check_settings, after)
        except (SettingsError, ValueError) as error:
            raise WrongValueError("wrong_setting", str(error)) from error
        account = change.model_dump_json()
        try:
            await self._overseer.set_settings(after, change.version - 1, account)
        except ConflictError as error:
            raise RefusedError("other_version", "somebody else changed them; look again") from error
        except EngineError as error:
            raise UnreachableError("not_kept", str(error)) from error
        await asyncio.to_thread(self._changes.keep, change)
        done = await self._orders.confirmed(lambda known: known.settings >= change.version)
        names = [row.node for row in done if row.confirmed]
        change = change.model_copy(update={"applied_by": names})
        self._tell_change(change, who)
        return change

    # --- commands

    async def command(self, command: Command, who: str) -> CommandResult:
        reason = self._why_not(command)
        if reason is not None:
            raise RefusedError("not_available", reason)
        try:
            nodes = await self._orders.give(command)
        except UsageError as error:
            raise RefusedError("not_done", str(error)) from error
        except EngineError as error:
            raise UnreachableError("no_answer", str(error)) from error
        self._newsroom.tell(TOLD[command], f"{command.value} by the operator", who=who)
        return CommandResult(
            command=command,
            time=round(time.time(), 3),
            confirmed=bool(nodes) and all(row.confirmed for row in nodes),
            nodes=nodes,
        )


def _activity(state: str, progress: Progress) -> Activity:
    if state == "finished":
        return Activity.FINISHED
    if state == "paused":
        return Activity.PAUSED
    return progress.activity if progress.activity is Activity.DISK_FULL else Activity.RUNNING
