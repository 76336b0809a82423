"""The leading control node's decisions: who is in, who owns what, what is wanted, when it is over.

Takes: the nodes' words and statuses, commands. Gives: maps, wanted states, settings, seeds. Never on
the data's path: nodes go on without it. Guarantees: a node is taken out of the map only after its key
in the engine was overwritten, so that it cannot renew; all changes are compare-and-sets, and kept in
DIR/control too, from where they are put back into an engine that lost them.
"""

import asyncio
import contextlib
import time

import msgspec

from gossamer.cluster.lease import boot_micros
from gossamer.cluster.map import (
    encode_map,
    merge_held,
    new_map,
)
from gossamer.cluster.messages import (
    Crawl,
    Happened,
    Held,
    Message,
    Pause,
    Resume,
    Roots,
    Shutdown,
    decode_event,
    encode,
)
from gossamer.control.attendance import quiet
from gossamer.control.copy import Copied
from gossamer.control.placing import Placing
from gossamer.control.summary import Summary
from gossamer.engine.tasks import end
from gossamer.errors import (
    ConflictError,
    EngineEmptyError,
    EngineError,
    GossamerError,
    VersionError,
)

OWN = {"engine", "credentials", "token", "tls_ca", "tls_cert", "tls_key"}
"""Settings of the cluster that belong to a machine, and may be secret: never in the engine."""

ROUND = 0.25
SUMMARY_EVERY = 0.5
LISTEN = 1.5
"""Seconds in which every living node has sent a status."""


class Decisions(Placing):
    """One control node; decides only while it leads."""

    # --- life

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
        endless = [self._lead(), self._attend(), self._decide(), self._summarise()]
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
            with quiet():
                await self._attendance.leave()
        return self.summary()

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
                # Another may have led since we looked.
                self._duty_read = False
                self._seeds = await asyncio.to_thread(self._copy.seeds)
                self._seeds_sent = await asyncio.to_thread(self._copy.sent)
            await asyncio.sleep(self._leader.every if self._leader.leading else ROUND)

    async def _attend(self) -> None:
        while True:
            with quiet():
                await self._attendance.round()
            await asyncio.sleep(self._attendance.every)

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
                await asyncio.sleep(0.02)
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
        await self._create("held", Held(nodes=[]))
        # There may be roots of a beginning that was cut short; what is missing comes with the seeds.
        with contextlib.suppress(ConflictError):
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
        await self._create("held", Held(nodes=copied.held))
        for number, urls in enumerate(copied.roots):
            await self._create(f"roots.{number}", Roots(urls=urls))
        # Before the crawl is known again: from then on it could be taken for whole.
        await self._must_send_again()
        with contextlib.suppress(ConflictError):
            await self._view.maps.create("map", encode_map(value))
        await self._create("crawl", copied.crawl)
        self._view.map_revision = self._view.wanted_revision = self._view.crawl_revision = None
        self._leaving_revision = None

    async def _keep(self) -> None:
        view = self._view
        if view.crawl is not None and view.map is not None:
            await asyncio.to_thread(
                self._copy.save, view.crawl, view.wanted, view.held, view.root_lists, view.map
            )

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
