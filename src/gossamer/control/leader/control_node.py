"""A control node: its parts, and the loop that calls them.

Takes: the nodes' heartbeats and statuses, commands. Gives: assignments, wanted states, settings, seeds.
Decides only while it leads. Guarantees: all changes are compare-and-sets, and kept in DIR/control too,
from where they are put back into an engine that lost them.
"""

import asyncio
import contextlib
from pathlib import Path

import msgspec

from gossamer.clock import SYSTEM, Clock
from gossamer.cluster.crawl_state import CrawlState
from gossamer.cluster.messages import Happened, Pause, Resume, Shutdown, decode_event
from gossamer.cluster.summary import Summary
from gossamer.control.leader.backup import Backup
from gossamer.control.leader.commands import Commands
from gossamer.control.leader.disk_watch import DiskWatch
from gossamer.control.leader.drain import Drain
from gossamer.control.leader.lease import LeaderLease
from gossamer.control.leader.live_settings import LiveSettings
from gossamer.control.leader.membership import Membership
from gossamer.control.leader.node_requests import NodeRequests
from gossamer.control.leader.overview import Overview
from gossamer.control.leader.rebalance import Rebalance
from gossamer.control.leader.resend import Resend
from gossamer.control.leader.restore import Restore
from gossamer.control.leader.seed_queue import SeedCoder, SeedQueue
from gossamer.control.leader.standbys import Standbys, quiet
from gossamer.control.leader.stream_watch import StreamWatch
from gossamer.control.leader.termination import Termination
from gossamer.engine import Engine
from gossamer.engine.tasks import end
from gossamer.errors import (
    ConflictError,
    EngineEmptyError,
    EngineError,
    GossamerError,
    VersionError,
)
from gossamer.limits import reached
from gossamer.logging import logger
from gossamer.settings import CrawlSettings

_log = logger("leader")

ROUND = 0.25
SUMMARY_EVERY = 0.5


class ControlNode:
    """One control node, leading or standing by."""

    def __init__(
        self,
        engine: Engine,
        settings: CrawlSettings,
        *,
        name: str,
        directory: Path,
        coder: SeedCoder,
        expect: int = 1,
        until_done: bool = False,
        resume: bool = False,
        clock: Clock = SYSTEM,
    ) -> None:
        self.engine = engine
        self.name = name
        self._until_done = until_done
        self._resume = resume
        self._clock = clock
        self._ended = asyncio.Event()
        seconds = settings.cluster.lease
        stream, backup = engine.links(), Backup(directory)
        self._stream = stream
        self.state = state = CrawlState(engine)
        self.lease = LeaderLease(state.crawls, name, seconds, clock)
        self.standbys = Standbys(state.crawls, name, seconds, clock)
        self.membership = members = Membership(state.nodes, clock)
        self.settings = LiveSettings(state, settings)
        self.coder = coder
        self.requests = NodeRequests(engine, members)
        self.termination = Termination(members, stream)
        self.drain = Drain(state, membership=members, requests=self.requests)
        self.seeds = SeedQueue(
            state,
            stream,
            membership=members,
            settings=self.settings,
            backup=backup,
            coder=coder,
            leading=lambda: self.leading,
            added=self._restarted,
        )
        self.resend = Resend(
            state,
            membership=members,
            requests=self.requests,
            seeds=self.seeds,
            backup=backup,
            done=self.termination.restart,
        )
        self.stream_watch = StreamWatch(
            stream,
            settings=self.settings,
            membership=members,
            requests=self.requests,
            backup=backup,
            lost=self._links_lost,
            clock=clock,
        )
        self.disk = DiskWatch(directory, members.counted)
        self.overview = Overview(
            engine,
            state,
            lease=self.lease,
            standbys=self.standbys,
            membership=members,
            drain=self.drain,
            seeds=self.seeds,
            stream_watch=self.stream_watch,
            disk=self.disk,
            clock=clock,
        )
        self.rebalance = Rebalance(
            state,
            membership=members,
            drain=self.drain,
            settings=self.settings,
            expect=expect,
            note=self.overview.note,
            clock=clock,
        )
        self.restore = Restore(
            engine.names.crawl,
            state,
            stream,
            settings=self.settings,
            membership=members,
            seeds=self.seeds,
            resend=self.resend,
            backup=backup,
            wiped=self._wiped,
            clock=clock,
        )
        self.commands = Commands(
            state,
            membership=members,
            drain=self.drain,
            seeds=self.seeds,
            requests=self.requests,
            restarted=self._restarted,
            clock=clock,
        )

    @property
    def leading(self) -> bool:
        return self.lease.leading

    def stop_process(self) -> None:
        self._ended.set()

    def served_at(self, url: str) -> None:
        """Others learn with the next heartbeat where this control node is reached."""
        self.lease.url = self.standbys.url = url

    def _restarted(self) -> None:
        """There may be something to do again."""
        self.termination.restart()
        self.state.hint.set()

    def _wiped(self) -> None:
        """The engine is a new one: what was learned from the old one's revisions means nothing."""
        self.overview.note("control the engine was wiped; map and settings are put back")
        for part in (self.membership, self.rebalance, self.drain, self.stream_watch):
            part.forget_engine()

    async def _links_lost(self) -> None:
        self.overview.note("control the engine has lost links; they are sent again")
        await self.resend.begin()
        self.termination.restart()

    # --- life

    async def run(self) -> Summary:
        """Until the crawl is stopped or this process is; gives the last summary."""
        names = self.engine.names
        await self.seeds.load()
        await self.engine.listen(names.status("*"), self.membership.note_status)
        await self.engine.listen(names.event("*"), self._note_event)
        await self.state.open()
        endless = [
            self._lead(), self._beat(), self._decide(), self._publish(),
            self.disk.follow(), self.membership.hearing.follow(),
        ]  # fmt: skip
        tasks = [asyncio.ensure_future(one) for one in endless]
        ended = asyncio.ensure_future(self._ended.wait())
        try:
            await asyncio.wait([*tasks, ended], return_when=asyncio.FIRST_COMPLETED)
            for task in tasks:
                if task.done():
                    task.result()
        finally:
            await end([*tasks, ended])
            with contextlib.suppress(EngineError):
                await self.lease.give_up()
            with quiet():
                await self.standbys.leave()
        return self.overview.summary()

    def _note_event(self, subject: str, data: bytes) -> None:
        with contextlib.suppress(VersionError):
            event = decode_event(data)
            text = f"{event.kind}: {event.text}" if isinstance(event, Happened) else ""
            name = subject.rpartition(".")[2]
            self.overview.note(f"{name} {text or type(event).__name__.lower()}")

    def _note_error(self, error: GossamerError) -> None:
        if str(error) != self.overview.error:
            self.overview.error = str(error)
            _log.warning("waiting", error=str(error))

    async def _lead(self) -> None:
        """Renews the lead, or tries to take it."""
        while True:
            led = self.leading
            try:
                await self.lease.round()
            except EngineEmptyError:
                with contextlib.suppress(EngineError):
                    if await self.restore.make_leader_bucket():
                        continue
            except EngineError as error:
                self._note_error(error)
            if self.leading and not led:
                _log.info("leads")
                # Another may have led since we looked.
                self.resend.read_again()
                await self.seeds.load()
            await asyncio.sleep(self.lease.every if self.leading else ROUND)

    async def _beat(self) -> None:
        """Our heartbeat among the control nodes."""
        while True:
            with quiet():
                await self.standbys.round()
            await asyncio.sleep(self.standbys.every)

    async def _decide(self) -> None:
        while True:
            try:
                if self.leading:
                    await self._round()
                elif self.state.crawl is not None or await self.state.crawls.exists():
                    await self._follow()
                self.overview.error = ""
            except ConflictError:
                # Somebody changed the assignment first; the next round begins with what it is now.
                await asyncio.sleep(0.02)
                continue
            except EngineError as error:
                self._note_error(error)
                await asyncio.sleep(ROUND)
            await self.state.wait(ROUND)

    async def _follow(self) -> None:
        """Standing by: knows all that the leader knows."""
        await self.settings.refresh()
        await self.membership.follow(self.settings.current.cluster.lease)
        self._drop_unknown()
        await self.restore.keep()

    async def _round(self) -> None:
        """The leader's round. The order matters: what is known first, then what follows from it."""
        await self.restore.round()
        await self.settings.refresh()
        await self.membership.follow(self.settings.current.cluster.lease)
        await self.drain.refresh()
        await self._resume_once()
        await self.rebalance.round()
        await self.restore.keep()
        await self.stream_watch.round(keep_oldest=not self.resend.pending)
        await self.resend.round()
        await self.seeds.send()
        await self.drain.round()
        if self.state.map is not None:
            await self.membership.forget_old(self.state.map.nodes())
        self._drop_unknown()
        await self._look_for_the_end()

    def _drop_unknown(self) -> None:
        cluster, value = self.settings.current.cluster, self.state.map
        if value is not None:
            patience = max(cluster.lease, cluster.rejoin)
            self.membership.drop_unknown(value.nodes(), patience)

    async def _resume_once(self) -> None:
        """A crawl that was stopped goes on, if this process was started for that."""
        if self._resume:
            # Once: a stop that comes later is one.
            self._resume = False
            if isinstance(self.state.wanted, Shutdown):
                await self.state.want(Resume(since=self._clock.now()))

    async def _look_for_the_end(self) -> None:
        wanted, view = self.state.wanted, self.overview
        if isinstance(wanted, Shutdown):
            view.phase = "finished" if wanted.done else "stopping"
            if not self.membership.any_within(self.settings.current.cluster.lease):
                self._ended.set()
            return
        view.phase = "paused" if isinstance(wanted, Pause) else "running"
        value = self.state.map
        if value is None or value.epoch == 0:
            view.phase = "waiting"
            return
        view.limited = reached(self.settings.current.limits, view.progress()) is not None
        if view.limited or (
            self.seeds.empty and not self.resend.pending and await self.termination.reached(value)
        ):
            view.phase = "finished"
            if self._until_done:
                await self.commands.finish()

    async def _publish(self) -> None:
        """Tells whoever listens how it goes."""
        while True:
            await asyncio.sleep(SUMMARY_EVERY)
            if not self.leading:
                continue
            with contextlib.suppress(EngineError):
                await self.stream_watch.count()
            with contextlib.suppress(EngineError):
                data = msgspec.json.encode(self.overview.summary())
                await self.engine.publish(self.engine.names.summary, data)
