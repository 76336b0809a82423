"""The leading control node's decisions: who is in, who owns what, what is wanted, when it is over.

Takes: the nodes' words and statuses, commands. Gives: maps, wanted states, settings, seeds. Never on
the data's path: nodes go on without it. Guarantees: a node is taken out of the map only after its key
in the engine was overwritten, so that it cannot renew; all changes are compare-and-sets, and kept in
DIR/control too, from where they are put back into an engine that lost them.
"""

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

import msgspec

from gossamer.cluster.lease import boot_micros
from gossamer.cluster.map import (
    PartitionMap,
    encode_map,
    merge_held,
    new_map,
    rebalance,
    take_out,
)
from gossamer.cluster.messages import (
    Crawl,
    Happened,
    Leaving,
    Message,
    Pause,
    Resume,
    Roots,
    Shutdown,
    Unregister,
    Wanted,
    decode,
    decode_event,
    encode,
)
from gossamer.cluster.tasks import end
from gossamer.cluster.view import View
from gossamer.control.copy import Copied, Copy
from gossamer.control.finish import Finish
from gossamer.control.leader import Leadership
from gossamer.control.roster import Known, Roster
from gossamer.control.summary import Summary, total
from gossamer.engine import Engine, LinkStream
from gossamer.errors import (
    ConflictError,
    EngineAwayError,
    EngineEmptyError,
    EngineError,
    GossamerError,
    UsageError,
    VersionError,
)
from gossamer.model.progress import Activity, Progress
from gossamer.settings import CrawlSettings

OWN = {"engine", "credentials", "tls_ca", "tls_cert", "tls_key"}
"""Settings of the cluster that belong to a machine, and may be secret: never in the engine."""

ROUND = 0.25
SUMMARY_EVERY = 0.5
TRIES = 3
ROOTS_PART = 2000
SEEDS_TOGETHER = 1000
WATCH_EVERY = 2.0
MARGIN = 60.0
"""Seconds that links are sent again before the oldest that the engine may have lost."""

SETTLE = 2.0
"""Seconds that a first assignment waits for more nodes than were asked for."""

LISTEN = 1.5
"""Seconds in which every living node has sent a status."""


class SeedCoder(Protocol):
    """Seeds into messages; native, because it makes URLs."""

    def refusals(self, urls: Sequence[str], settings: CrawlSettings) -> list[str | None]: ...
    def encode(self, urls: Sequence[str], settings: CrawlSettings) -> list[tuple[int, bytes]]: ...


class Decisions:
    """One control node; decides only while it leads."""

    def __init__(
        self,
        engine: Engine,
        settings: CrawlSettings,
        *,
        control: str,
        directory: Path,
        coder: SeedCoder,
        read_settings: Callable[[str], CrawlSettings],
        write_settings: Callable[[CrawlSettings], str],
        say: Callable[[str], None],
        expect: int = 1,
        until_done: bool = False,
        resume: bool = False,
        url: str = "",
    ) -> None:
        self._engine = engine
        self._settings = settings
        self._control = control
        self._coder = coder
        self._read_settings = read_settings
        self._write_settings = write_settings
        self._say = say
        self._expect = expect
        self._until_done = until_done
        self._resume = resume
        self._view = View(engine)
        self._stream = LinkStream(engine)
        self._roster = Roster(self._view.nodes)
        self._copy = Copy(directory)
        self._leader = Leadership(self._view.crawls, control, settings.cluster.lease, url)
        self._finish = Finish()
        self._began = boot_micros()
        self._first_node = 0.0
        self._change = 0
        self._leaving: set[str] = set()
        self._leaving_revision: int | None = None
        self._seeds: list[str] = []
        self._seeds_sent = 0
        self._send_since: float | None = None
        self._sent_again: set[str] = set()
        self._sized = self._stream_full = False
        self._watched = 0.0
        self._events: deque[str] = deque(maxlen=200)
        self._ended = asyncio.Event()
        self._error = ""
        self._stream_messages = self._stream_bytes = 0
        self.state = "waiting"
        self.last: Summary | None = None

    # --- life

    @property
    def leading(self) -> bool:
        return self._leader.leading

    def stop_process(self) -> None:
        self._ended.set()

    async def run(self) -> Summary:
        """Until the crawl is stopped or this process is; gives the last summary."""
        names = self._engine.names
        self._seeds = await asyncio.to_thread(self._copy.seeds)
        self._seeds_sent = await asyncio.to_thread(self._copy.sent)
        await self._engine.listen(names.status("*"), self._roster.note_status)
        await self._engine.listen(names.event("*"), self._note_event)
        await self._view.open()
        await self._view.nodes.hints(self._view.hint.set)
        endless = [self._lead(), self._decide(), self._summarise()]
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
                await self._leader.give_up()
        return self.summary()

    def summary(self) -> Summary:
        raise NotImplementedError

    async def ask_node(self, node: str, name: str, body: object = None) -> object:
        raise NotImplementedError

    async def _want(self, wanted: Wanted) -> None:
        for left in reversed(range(TRIES)):
            try:
                await self._view.crawls.put("wanted", encode(wanted))
            except EngineAwayError:
                # Setting it twice is harmless, and an operator should not have to.
                if not left:
                    raise
            else:
                break
        await self._view.refresh()

    def _note_event(self, subject: str, data: bytes) -> None:
        with contextlib.suppress(VersionError):
            event = decode_event(data)
            text = f"{event.kind}: {event.text}" if isinstance(event, Happened) else ""
            name = subject.rpartition(".")[2]
            self._events.append(f"{name} {text or type(event).__name__.lower()}")

    async def _lead(self) -> None:
        while True:
            led = self._leader.leading
            try:
                await self._leader.round()
            except EngineEmptyError:
                # A new engine, or a wiped one: the bucket that decides who leads comes first.
                with contextlib.suppress(EngineError):
                    if not await self._view.crawls.exists():
                        await self._view.crawls.make(self._settings.cluster.replicas)
                        continue
            except EngineError as error:
                self._note_error(error)
            if self._leader.leading and not led:
                self._say(f"{self._control} leads")
            await asyncio.sleep(self._leader.every if self._leader.leading else ROUND)

    def _note_error(self, error: GossamerError) -> None:
        if str(error) != self._error:
            self._error = str(error)
            self._say(f"waiting: {error}")

    async def _decide(self) -> None:
        while True:
            try:
                if self._leader.leading:
                    await self._round()
                elif self._view.crawl is not None or await self._view.crawls.exists():
                    await self._view.refresh()
                    self._follow_settings()
                    await self._roster.refresh()
                    await self._keep()
                self._error = ""
            except ConflictError:
                # Somebody changed the map first; the next round begins with what it is now.
                continue
            except EngineError as error:
                self._note_error(error)
                await asyncio.sleep(ROUND)
            await self._view.wait(ROUND)

    async def _round(self) -> None:
        await self._make_sure()
        await self._view.refresh()
        self._follow_settings()
        await self._roster.refresh()
        await self._read_leaving()
        if self._resume:
            # Once: a stop that comes later is one.
            self._resume = False
            if isinstance(self._view.wanted, Shutdown):
                await self._want(Resume(since=time.time()))
        await self._place()
        await self._keep()
        await self._watch_stream()
        await self._send_again()
        await self._send_seeds()
        await self._dismiss()
        await self._look_for_the_end()

    def _follow_settings(self) -> None:
        """Another control node may have changed them. What belongs to this machine stays."""
        crawl = self._view.crawl
        if crawl is None or crawl.change == self._change:
            return
        found, own = self._read_settings(crawl.settings), self._settings
        kept = {name: getattr(own.cluster, name) for name in OWN}
        cluster = found.cluster.model_copy(update=kept)
        self._settings = found.model_copy(update={"cluster": cluster, "control": own.control})
        self._change = crawl.change

    # --- what the engine must hold

    async def _make_sure(self) -> None:
        """Creates what is missing; from our copy, if the engine lost it."""
        view, cluster = self._view, self._settings.cluster
        if view.crawl is not None:
            try:
                if await view.crawls.get("crawl") is not None and await view.maps.get("map"):
                    return
            except EngineEmptyError:
                pass
        for bucket in (view.crawls, view.nodes, view.maps):
            await bucket.make(cluster.replicas)
        await self._stream.make(replicas=cluster.replicas, most_bytes=cluster.links_bytes)
        if await view.crawls.get("crawl") is not None and await view.maps.get("map") is not None:
            return
        copied = await asyncio.to_thread(self._copy.load)
        if copied is None:
            await self._begin()
        else:
            await self._put_back(copied)

    async def _begin(self) -> None:
        crawls = self._view.crawls
        crawl = Crawl(
            name=self._engine.names.crawl,
            created=time.time(),
            partitions=self._settings.partitions,
            settings=self._write_settings(self._settings),
        )
        await self._create("wanted", Resume(since=time.time()))
        await self._put_roots(self._seeds)
        with contextlib.suppress(ConflictError):
            await self._view.maps.create("map", encode_map(new_map(crawl.partitions)))
        with contextlib.suppress(ConflictError):
            await crawls.create("crawl", encode(crawl))

    async def _create(self, key: str, message: Message) -> None:
        with contextlib.suppress(ConflictError):
            await self._view.crawls.create(key, encode(message))

    async def _put_back(self, copied: Copied) -> None:
        """Into an engine that lost everything. What living nodes say they hold is newer."""
        self._say("the engine has lost this crawl; putting it back from DIR/control")
        self._events.append("control the engine was wiped; map and settings are put back")
        self._roster.forget_engine()
        self._began = boot_micros()
        await asyncio.sleep(LISTEN)
        held = {
            known.name: status.partitions
            for known in self._roster.nodes.values()
            if (status := known.fresh) is not None
        }
        value = merge_held(copied.partition_map(), held)
        await self._create("wanted", copied.wanted)
        for number, urls in enumerate(copied.roots):
            await self._create(f"roots.{number}", Roots(urls=urls))
        with contextlib.suppress(ConflictError):
            await self._view.maps.create("map", encode_map(value))
        await self._create("crawl", copied.crawl)
        self._view.map_revision = self._view.wanted_revision = self._view.crawl_revision = None
        oldest = await asyncio.to_thread(self._copy.oldest)
        self._send_since, self._sent_again = max(0.0, (oldest or 0.0) - MARGIN), set()
        self._seeds_sent, self._sized = 0, False
        self._leaving_revision = None

    async def _keep(self) -> None:
        view = self._view
        if view.crawl is not None and view.map is not None:
            await asyncio.to_thread(
                self._copy.save, view.crawl, view.wanted, view.root_lists, view.map
            )

    # --- who is in, and who owns what

    async def _place(self) -> None:
        value = self._view.map
        if value is None or isinstance(self._view.wanted, Shutdown):
            # Nodes that leave because all do keep what they have.
            return
        dead = await self._find_dead(value)
        living = {known.name for known in self._roster.nodes.values() if known.alive} - dead
        new = take_out(value, dead, living) if dead else value
        # Who is away for a moment, as in a restart, keeps what it has.
        targets = (living | (value.nodes() - dead)) - self._leaving
        if value.epoch == 0 and not self._enough(targets):
            return
        new = rebalance(new, targets or living)
        if new is not value and new != value:
            await self._view.change_map(new)
            self._say(f"map {new.epoch}: {len(targets)} nodes, {new.moving} partitions to move")

    def _enough(self, nodes: set[str]) -> bool:
        if not nodes:
            return False
        if len(nodes) >= self._expect and self._expect > 1:
            return True
        now = time.monotonic()
        self._first_node = self._first_node or now
        patience = SETTLE if self._expect == 1 else self._settings.cluster.rejoin
        return now - self._first_node >= min(patience, self._settings.cluster.lease)

    async def _find_dead(self, value: PartitionMap) -> set[str]:
        """Takes silent nodes out; gives those whose partitions have nobody."""
        dead: set[str] = set()
        for name in value.nodes():
            known = self._roster.expect(name)
            if known.word is None or known.alive or isinstance(known.word, Unregister):
                if await self._is_over(known):
                    dead.add(name)
            else:
                dead.add(name)
        for known in list(self._roster.nodes.values()):
            if known.alive and known.name not in value.nodes() and await self._is_over(known):
                dead.add(known.name)
        return dead

    async def _is_over(self, known: Known) -> bool:
        cluster = self._settings.cluster
        since_start = (boot_micros() - self._began) / 1e6
        if isinstance(known.word, Unregister) and not known.word.keeps:
            return await self._roster.take_out(known, "it left")
        patience = cluster.lease
        if not known.renewed or isinstance(known.word, Unregister):
            # Never seen to live since we look: it may be coming back, as after a power cut.
            patience = max(cluster.lease, cluster.rejoin)
            if since_start <= patience:
                return False
        if known.silent() <= patience:
            return False
        # Overwritten first: only what cannot renew any longer is taken out of the map.
        if not await self._roster.take_out(known, f"silent for {known.silent():.1f} s"):
            return False
        self._say(f"node {known.name} is taken out")
        self._events.append(f"{known.name} taken out")
        return True

    async def _read_leaving(self) -> None:
        entry = await self._view.crawls.get("leaving")
        if entry is not None and entry.revision != self._leaving_revision:
            self._leaving = set(decode(entry.value, Leaving, "a control node").nodes)
            self._leaving_revision = entry.revision

    async def _set_leaving(self, nodes: set[str]) -> None:
        message = Leaving(nodes=sorted(nodes))
        revision = await self._view.crawls.put("leaving", encode(message))
        self._leaving, self._leaving_revision = nodes, revision

    async def _dismiss(self) -> None:
        """Nodes that were removed and own nothing any more may go."""
        value = self._view.map
        if value is None or not self._leaving:
            return
        for name in sorted(self._leaving - value.nodes()):
            known = self._roster.nodes.get(name)
            if known is not None and known.alive:
                with contextlib.suppress(EngineError, UsageError):
                    await self.ask_node(name, "shutdown")
            else:
                await self._set_leaving(self._leaving - {name})

    # --- seeds

    async def _put_roots(self, urls: list[str]) -> None:
        for start in range(0, len(urls), ROOTS_PART):
            part = urls[start : start + ROOTS_PART]
            number = self._view.root_parts + start // ROOTS_PART
            await self._view.crawls.create(f"roots.{number}", encode(Roots(urls=part)))

    async def add_seeds(self, urls: list[str]) -> list[tuple[str, str]]:
        """Every seed is taken, or refused with a reason; those taken are durable when this ends."""
        reasons = await asyncio.to_thread(self._coder.refusals, urls, self._settings)
        taken = [url for url, reason in zip(urls, reasons, strict=True) if reason is None]
        refused = [(u, r) for u, r in zip(urls, reasons, strict=True) if r is not None]
        if taken:
            await asyncio.to_thread(self._copy.add_seeds, taken)
            self._seeds += taken
            if self._view.crawl is not None and self.leading:
                await self._view.refresh()
                await self._put_roots(taken)
            self._finish.again()
            self._view.hint.set()
        return refused

    async def _send_seeds(self) -> None:
        """Sends what was not sent yet, when every node knows the roots that come with it."""
        view = self._view
        if self._seeds_sent >= len(self._seeds) or view.map is None:
            return
        for name in view.map.nodes():
            known = self._roster.nodes.get(name)
            if known is None or not known.alive:
                continue
            status = known.fresh
            if status is None or status.roots < view.root_parts:
                return
        for start in range(self._seeds_sent, len(self._seeds), SEEDS_TOGETHER):
            some = self._seeds[start : start + SEEDS_TOGETHER]
            for partition, payload in await asyncio.to_thread(
                self._coder.encode, some, self._settings
            ):
                await self._stream.publish(partition, payload)
            self._seeds_sent = start + len(some)
            await asyncio.to_thread(self._copy.set_sent, self._seeds_sent)

    # --- links that the engine lost

    async def _watch_stream(self) -> None:
        """Knows how far back links must be sent again, should the engine lose them."""
        if not self._sized:
            self._sized = True
            if await self._stream.resize(self._settings.cluster.links_bytes):
                self._say(
                    f"the stream of links may now hold {self._settings.cluster.links_bytes} B"
                )
        now = time.monotonic()
        if now - self._watched < WATCH_EVERY:
            return
        self._watched = now
        state = await self._stream.state()
        self._stream_full = state.size > 0.9 * state.most > 0
        oldest = time.time() if state.oldest is None else state.oldest
        await asyncio.to_thread(self._copy.set_oldest, oldest)

    async def _send_again(self) -> None:
        """After the engine was wiped: every node sends again what the engine may have held."""
        value, since = self._view.map, self._send_since
        if value is None or since is None:
            return
        for name in sorted(value.nodes() - self._sent_again):
            known = self._roster.nodes.get(name)
            if known is None or known.fresh is None or not known.alive:
                continue
            with contextlib.suppress(EngineError, UsageError):
                rows = await self.ask_node(name, "resend", {"since_us": round(since * 1e6)})
                self._sent_again.add(name)
                self._say(f"{name} sends {rows} rows of links again")
        if value.nodes() <= self._sent_again:
            self._send_since = None
            self._finish.again()

    # --- the end

    async def _look_for_the_end(self) -> None:
        wanted = self._view.wanted
        if isinstance(wanted, Shutdown):
            self.state = "finished" if wanted.done else "stopping"
            lease = self._settings.cluster.lease
            if not any(k.alive and k.silent() <= lease for k in self._roster.nodes.values()):
                self._ended.set()
            return
        self.state = "paused" if isinstance(wanted, Pause) else "running"
        value = self._view.map
        if value is None or value.epoch == 0:
            self.state = "waiting"
            return
        if self._limit_reached() or (
            self._seeds_sent >= len(self._seeds)
            and self._send_since is None
            and await self._finish.reached(value, self._roster, self._stream)
        ):
            self.state = "finished"
            if self._until_done:
                self.last = self.summary()
                await self._want(Shutdown(since=time.time(), reason="done", done=True))

    def _limit_reached(self) -> bool:
        limits, now = self._settings.limits, self._sum()
        return (
            (limits.pages is not None and now.pages >= limits.pages)
            or (limits.bytes is not None and now.bytes >= limits.bytes)
            or (limits.time is not None and now.seconds >= limits.time)
        )

    def _sum(self, activity: Activity = Activity.RUNNING) -> Progress:
        return total(self._roster.readings(), activity)

    async def _summarise(self) -> None:
        """Tells whoever listens how it goes."""
        while True:
            await asyncio.sleep(SUMMARY_EVERY)
            if not self._leader.leading:
                continue
            with contextlib.suppress(EngineError):
                state = await self._stream.state()
                self._stream_messages, self._stream_bytes = state.messages, state.size
            with contextlib.suppress(EngineError):
                data = msgspec.json.encode(self.summary())
                await self._engine.publish(self._engine.names.summary, data)
