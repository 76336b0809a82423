"""A crawl node's life: it registers, holds what the map gives it, crawls, and leaves.

    joining → running ⇄ paused → leaving
       ▲         │ the lease is refused: taken out
       └─────────┘ files are closed, the state is given up, a new incarnation joins

Guarantees: nothing is visited without a lease and a map that names us; when the lease cannot be
renewed visits stop before it ends, and go on when it can; a restart on the same disk goes on with
the partitions whose owner and epoch in the map are still ours.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path
from typing import Protocol

import msgspec

from gossamer._native import Node
from gossamer.clock import SYSTEM, Clock
from gossamer.cluster.addresses import Addresses
from gossamer.cluster.archive import Copies
from gossamer.cluster.crawl_state import CrawlState
from gossamer.cluster.exchange import Receiver, Sender
from gossamer.cluster.home import Home
from gossamer.cluster.keeper import FencedError, Keeper
from gossamer.cluster.lease import Lease
from gossamer.cluster.messages import (
    Crawl,
    Event,
    Happened,
    NodeStatus,
    Pause,
    Paused,
    Resumed,
    Shutdown,
    encode,
)
from gossamer.cluster.questions import Questions
from gossamer.cluster.requests import ask_control, persist
from gossamer.cluster.snapshots import Archive, Snapshots
from gossamer.disk import free_bytes
from gossamer.engine import Engine
from gossamer.engine.tasks import end
from gossamer.errors import (
    EngineEmptyError,
    EngineError,
    EvictedError,
    GossamerError,
    SnapshotError,
    UsageError,
)
from gossamer.logging import logger
from gossamer.model.host_decisions import take_decisions
from gossamer.model.progress import Activity, Progress
from gossamer.settings import CrawlSettings

_log = logger("member")
TROUBLES = {"trouble", "snapshot_failed", "partition_waits", "gave_up"}
"""Kinds of events that somebody should look at."""

STATUS_EVERY = 0.5
OBEY_EVERY = 0.3
"""Seconds between looks at what is wanted: a pause holds within a second."""

DECISIONS_EVERY = 1.0
SEEDS_EVERY = 1.0
SEEDS_AGAIN = 10.0
SEEDS_MOST = 500
"""Targets of seeds' redirects that are shared at once."""

JOIN = 30.0
"""Seconds that a node which joins waits for an engine that is away."""

GRACE = 10.0
SETTLE = 2.0
"""Seconds that pages which are given back, or that a policy holds, are waited for after that."""

DRAIN = 10.0

_progress = msgspec.json.Decoder(Progress).decode


class Wiring(Protocol):
    """What a member does not make itself."""

    def open_node(self, directory: Path, settings: CrawlSettings, name: str) -> Node: ...
    def native_text(self, settings: CrawlSettings, name: str) -> str: ...
    def read_settings(self, text: str) -> CrawlSettings: ...
    def last_visits(self, directory: Path, url: str) -> list[dict[str, object]]: ...
    async def step(self, node: Node, threads: Executor) -> bytes:
        """`Node.step`, which waits for something to do, away from the event loop."""


class Member:
    """One incarnation of a node, from joining to its end. `run` gives why it ended."""

    def __init__(
        self,
        home: Home,
        engine: Engine,
        *,
        snapshots_url: str,
        wiring: Wiring,
        host: str,
        pid: int,
        clock: Clock = SYSTEM,
    ) -> None:
        self._home = home
        self._engine = engine
        self._url = snapshots_url
        self._wiring = wiring
        self._host, self._pid = host, pid
        self._clock = clock
        self._disk_free: int | None = None
        self._view = CrawlState(engine)
        self._stream = engine.links()
        self._threads = ThreadPoolExecutor(2, thread_name_prefix="node")
        self._started = self._clock.now()
        self._state = "joining"
        self._progress: Progress | None = None
        self._steps = 0
        """How many have ended."""
        self._settings: CrawlSettings | None = None
        self._known_change = -1
        self._refused_change = -1
        """The last change of settings that this node could not use."""
        self._settings_trouble = ""
        self._known_roots = -1
        self._background: set[asyncio.Task[None]] = set()
        self._stop = asyncio.Event()
        self._gone_for_good = False
        self._hurried = False
        self.reason = ""

    # --- from outside

    def stop(self, reason: str, *, for_good: bool = False) -> None:
        """Ends in order. `for_good`: this node is not coming back."""
        self.reason = self.reason or reason
        self._gone_for_good = self._gone_for_good or for_good
        self._stop.set()

    def hurry(self, reason: str) -> None:
        """Ends in order, and if it does so already, without waiting for the visits under way."""
        self._hurried = self._stop.is_set()
        self.stop(reason)

    @property
    def _held(self) -> bool:
        """Whether this node alone is held back. Kept in the engine, so a restart changes nothing."""
        return self._home.node in self._view.held

    async def run(self) -> str:
        """Until stopped; gives the reason. `EvictedError`: taken out, the files are closed."""
        self._settings = await self._join()
        if self._settings is None:
            return self.reason
        await asyncio.to_thread(self._home.open)
        self._node = await asyncio.to_thread(
            self._wiring.open_node, self._home.directory, self._settings, self._home.incarnation
        )
        try:
            self._node.set_fence(0)
            return await self._crawl(self._settings)
        finally:
            self._node.set_fence(0)
            await asyncio.to_thread(self._node.close)
            self._threads.shutdown(wait=False)

    # --- joining

    async def _join(self) -> CrawlSettings | None:
        """Waits for the crawl to be known to the engine. None: stopped before it was."""
        await self._view.open()
        while True:
            try:
                await self._view.refresh()
                if self._view.crawl is not None and self._view.map is not None:
                    break
            except EngineError as error:
                _log.warning("waiting for the crawl", error=str(error))
            if self._stop.is_set():
                return None
            await self._view.wait()
        self._known_change = self._view.crawl.change
        return self._wiring.read_settings(self._view.crawl.settings)

    async def _take_lease(self) -> None:
        """Registers; a node of this name on another disk must be taken out first."""
        while not self._stop.is_set():
            try:
                if await self._lease.take():
                    return
                _log.warning(
                    "a node of this name is running, or was until a moment ago, on another disk; "
                    "waiting until its lease has ended"
                )
            except EngineError as error:
                _log.warning("waiting for a lease", error=str(error))
            await asyncio.sleep(self._lease.every)

    # --- crawling

    async def _crawl(self, settings: CrawlSettings) -> str:
        cluster, name = settings.cluster, self._home.node
        self._lease = Lease(
            self._view.nodes,
            name,
            self._home.incarnation,
            cluster.lease,
            address=self._host,
            pid=self._pid,
            clock=self._clock,
        )
        self._receiver = Receiver(self._node, self._stream, self._clock)
        self._sender = Sender(
            self._node, self._stream, self._clock, lambda text: self._tell("trouble", text)
        )
        snapshots = Snapshots(self._url, self._view.crawl.name, self._clock)  # type: ignore[union-attr]
        # Servers that elect a leader just now are no reason to end.
        await persist(lambda: snapshots.check_belongs(self._view.crawls), JOIN)
        archive = Archive(self._url, self._engine.names.crawl) if cluster.archive else None
        self._copies = Copies(self._home.directory, name, archive, keep=cluster.snapshot_keep)

        self._keeper = Keeper(
            self._node,
            name=name,
            view=self._view,
            lease=self._lease,
            snapshots=snapshots,
            copies=self._copies,
            stream=self._stream,
            scratch=self._home.scratch,
            tell=self._tell,
            clock=self._clock,
        )
        self._addresses = Addresses(self._node, name=name, engine=self._engine, view=self._view)
        questions = Questions(
            self._node,
            self._keeper,
            stop=self.stop,
            status=self._status,
            visits=lambda url: self._wiring.last_visits(self._home.directory, url),
            directory=self._home.directory,
        )
        await self._take_lease()
        _log.info("joined", incarnation=self._home.incarnation)
        names = self._engine.names
        listening = [
            await self._engine.serve(names.grants(name), self._addresses.answer),
            await self._engine.serve(names.node(name), questions.answer),
        ]
        try:
            await self._work()
        finally:
            for end in listening:
                with contextlib.suppress(Exception):
                    await end()
        return self.reason

    async def _work(self) -> None:
        """All tasks until one fails or we are stopped; then the orderly end."""
        endless = [
            self._renewing(),
            self._stepping(),
            self._watching_policies(),
            self._following(),
            self._obeying(),
            self._saving(),
            self._reporting(),
            self._sharing_seeds(),
            self._sender.run(),
            self._receiver.run(),
            self._addresses.run(),
        ]
        tasks = [asyncio.create_task(one) for one in endless]
        stopped = asyncio.create_task(self._stopped())
        try:
            await asyncio.wait([*tasks, stopped], return_when=asyncio.FIRST_COMPLETED)
            for task in tasks:
                if task.done():
                    task.result()
            await self._leave()
        finally:
            every = [*tasks, stopped, *self._background]
            await end(every)
            # A step that was under way in its thread is waited for by `close`.
        await self._lease.give_up(keeps=not self._gone_for_good)

    async def _stopped(self) -> None:
        await self._stop.wait()

    async def _leave(self) -> None:
        """No new visits; those under way end, and what they found leaves."""
        self._state = "leaving"
        self._node.stop(now=False)
        # The step that is under way may have begun visits: the reading of a later one counts.
        whole = self._steps + 2
        await _wait(lambda: self._hurried or self._is_at_rest(whole), GRACE)
        self._node.stop(now=True)
        # Then the counters are whole, and the last status is what the files hold.
        await _wait(lambda: self._is_at_rest(whole), SETTLE)
        await self._tell_decisions()
        await _wait(lambda: not (self._node.outbox()[0] and self._engine.connected), DRAIN)
        self._node.set_fence(0)
        await self._report()

    def _is_at_rest(self, steps: int) -> bool:
        """Nothing is under way, and all that was is safe and counted, after so many steps."""
        last = self._progress
        return last is not None and self._steps >= steps and not last.in_flight and last.settled

    async def _renewing(self) -> None:
        while True:
            try:
                async with asyncio.timeout(max(0.25, self._lease.every)):
                    await self._lease.renew()
            except (EngineError, TimeoutError):
                await asyncio.sleep(0.1)
                continue
            if self._lease.fence is not None:
                self._node.set_fence(self._lease.fence)
            if self._lease.checked:
                await asyncio.sleep(self._lease.every)
            else:
                await asyncio.sleep(0.02)
                self._view.hint.set()

    async def _stepping(self) -> None:
        while True:
            self._progress = _progress(await self._wiring.step(self._node, self._threads))
            self._steps += 1
            if self._progress.activity in {Activity.FINISHED, Activity.LIMIT_REACHED}:
                # Nothing to do until links arrive.
                await asyncio.sleep(0.02)
            if self._state == "pausing" and not self._progress.in_flight:
                self._state = "paused"
                await self._publish(Paused(node=self._home.node, time=self._clock.now()))

    async def _watching_policies(self) -> None:
        while True:
            await self._tell_decisions()
            await asyncio.sleep(DECISIONS_EVERY)

    async def _tell_decisions(self) -> None:
        """What was decided about hosts and URL patterns."""
        for one in await asyncio.to_thread(take_decisions, self._node):
            self._tell("host_decided", one.words, host=one.host or None)

    async def _following(self) -> None:
        """Reads what the engine says and does it."""
        while True:
            try:
                await self._view.refresh()
                await self._apply()
            except (EngineError, SnapshotError, FencedError) as error:
                if not isinstance(error, EngineEmptyError):
                    self._tell("trouble", str(error))
                await asyncio.sleep(0.2)
            await self._view.wait(0.2 if self._keeper.troubles else 1.0)

    async def _obeying(self) -> None:
        """Pause, resume and stop, also while partitions are on their way."""
        while True:
            with contextlib.suppress(EngineError):
                await self._view.read_wanted()
                await self._view.read_held()
                await self._want()
            await asyncio.sleep(OBEY_EVERY)

    async def _apply(self) -> None:
        view = self._view
        value = view.map
        if view.crawl is None or value is None:
            return
        if view.root_parts != self._known_roots:
            await asyncio.to_thread(self._node.set_roots, view.roots)
            self._known_roots = view.root_parts
        if view.crawl.change != self._known_change:
            await self._change_settings(view.crawl)
        await self._want()
        if not self._lease.checked:
            await self._keeper.drop_foreign(value)
            self._lease.checked = True
        await self._keeper.carry_out(value)
        if self._state == "joining":
            self._state = "running"

    async def _change_settings(self, crawl: Crawl) -> None:
        """Settings that this node cannot use are told, and it goes on with those that it has."""
        if crawl.change == self._refused_change:
            return
        try:
            settings = self._wiring.read_settings(crawl.settings)
            await asyncio.to_thread(self._set_settings, settings)
        except (UsageError, ValueError) as error:
            self._refused_change = crawl.change
            self._settings_trouble = f"change {crawl.change} of the settings is not used: {error}"
            self._tell("trouble", self._settings_trouble)
        else:
            self._known_change, self._settings_trouble = crawl.change, ""

    def _set_settings(self, settings: CrawlSettings) -> None:
        self._node.set_settings(self._wiring.native_text(settings, self._home.incarnation))
        self._settings = settings
        self._copies.keep = settings.cluster.snapshot_keep

    async def _want(self) -> None:
        wanted = self._view.wanted
        if isinstance(wanted, Shutdown):
            self.stop("done" if wanted.done else wanted.reason or "stopped by command")
            return
        still = isinstance(wanted, Pause) or self._held
        if still and self._state in {"running", "joining"}:
            self._state = "pausing"
            self._node.set_paused(True)
        elif not still and self._state in {"pausing", "paused"}:
            self._state = "running"
            self._node.set_paused(False)
            await self._publish(Resumed(node=self._home.node, time=self._clock.now()))

    async def _saving(self) -> None:
        """Snapshots by the clock."""
        assert self._settings is not None  # noqa: S101
        while True:
            begun = self._clock.monotonic()
            # In short naps: the setting can change meanwhile.
            while self._clock.monotonic() - begun < self._settings.cluster.snapshot_every:  # noqa: ASYNC110
                await asyncio.sleep(min(1.0, self._settings.cluster.snapshot_every))
            try:
                await self._keeper.save_changed()
            except (EngineError, SnapshotError, FencedError) as error:
                self._tell("snapshot_failed", str(error))

    async def _sharing_seeds(self) -> None:
        """Targets of seeds' redirects become seeds of all nodes, through whoever leads."""
        while True:
            await asyncio.sleep(SEEDS_EVERY)
            found = await asyncio.to_thread(self._node.redirected_seeds)
            if not found:
                continue
            try:
                await ask_control(
                    self._engine, "redirected", {"seeds": found[:SEEDS_MOST]}, who=self._home.node
                )
            except GossamerError as error:
                # They are kept until somebody takes them.
                self._tell("trouble", f"targets of seeds' redirects wait: {error}")
                await asyncio.sleep(SEEDS_AGAIN)
                continue
            urls = [url for url, _hops in found[:SEEDS_MOST]]
            await asyncio.to_thread(self._node.seeds_taken, urls)

    # --- telling

    async def _reporting(self) -> None:
        while True:
            self._disk_free = await asyncio.to_thread(free_bytes, self._home.directory)
            await self._report()
            await asyncio.sleep(STATUS_EVERY)

    async def _report(self) -> None:
        subject = self._engine.names.status(self._home.node)
        with contextlib.suppress(EngineError):
            await self._engine.publish(subject, encode(self._status()))

    def _status(self) -> NodeStatus:
        keeper, lease = self._keeper, self._lease
        fenced = lease.left <= 0 and self._state not in {"joining", "leaving"}
        troubles = (self._sender.trouble, self._receiver.trouble, self._settings_trouble)
        notes = [one for one in troubles if one]
        damaged = self._progress.messages_damaged if self._progress else 0
        if damaged:
            notes.append(f"{damaged} messages of links could not be read; see `nodes resend`")
        notes += [f"partition {p}: {text}" for p, text in list(keeper.troubles.items())[:10]]
        saved = keeper.saved_at
        return NodeStatus(
            node=self._home.node,
            incarnation=self._home.incarnation,
            time=self._clock.now(),
            started=self._started,
            state="fenced" if fenced else self._state,
            progress=self._progress,
            map_epoch=keeper.done_epoch,
            partitions=sorted(keeper.held.items()),
            outbox=self._node.outbox()[0],
            read_to=self._receiver.read_to,
            stream=self._receiver.identity,
            ahead=self._receiver.ahead,
            roots=max(0, self._known_roots),
            settings=self._known_change,
            snapshot_age=None if saved is None else self._clock.monotonic() - saved,
            lease_left=round(lease.left, 3),
            host=self._host,
            pid=self._pid,
            held=self._held,
            disk_free=self._disk_free,
            cpu_seconds=round(time.process_time(), 3),
            loop_seconds=round(time.thread_time(), 3),
            notes=notes,
        )

    def _tell(self, kind: str, text: str, host: str | None = None) -> None:
        level = _log.warning if kind in TROUBLES else _log.info
        level(kind.replace("_", " "), what=text)
        event = Happened(
            node=self._home.node, time=self._clock.now(), kind=kind, text=text, host=host
        )
        task = asyncio.ensure_future(self._publish(event))
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def _publish(self, event: Event) -> None:
        with contextlib.suppress(EngineError):
            await self._engine.publish(self._engine.names.event(self._home.node), encode(event))


async def _wait(condition: Callable[[], bool], seconds: float) -> None:
    now = asyncio.get_running_loop().time
    end = now() + seconds
    while now() < end and not condition():  # noqa: ASYNC110  nobody tells us
        await asyncio.sleep(0.05)


async def evicted(home: Home, error: EvictedError) -> None:
    """After the files are closed: the state goes, the next incarnation joins with nothing."""
    _log.warning("taken out; joining anew with an empty state", why=str(error))
    await asyncio.to_thread(home.renew)
