"""The control node's commands and views: what people and the API may ask for.

Changes go into the engine by the leading control node and are carried out by every node that lives,
also by those that join later; so a command survives the death of whoever gave it.
"""

import asyncio
import contextlib
import time
from collections.abc import Sequence

import msgspec

from gossamer._native import UrlRules
from gossamer.cluster.map import PartitionMap, move
from gossamer.cluster.messages import (
    Answer,
    Crawl,
    Evicted,
    Pause,
    Question,
    Resume,
    Shutdown,
    Wanted,
    decode,
    encode,
)
from gossamer.control.alerts import Trouble
from gossamer.control.decisions import Decisions
from gossamer.control.roster import Known, Roster
from gossamer.control.summary import ControlLine, NodeLine, Summary
from gossamer.engine import Bucket, Engine
from gossamer.errors import ConflictError, EngineAwayError, EngineError, UsageError
from gossamer.model.progress import Activity
from gossamer.settings import CrawlSettings

STREAM_FULL = (
    "the stream of links is nearly full: nodes take snapshots so that it can forget, and begin no new "
    "visits while it is full; raise cluster.links_bytes if this comes again"
)
ANSWER = 10.0
SNAPSHOT_ANSWER = 300.0
_ACTIVITY = {"finished": Activity.FINISHED, "paused": Activity.PAUSED}


class Overseer(Decisions):
    """A control node with its commands."""

    # --- what it is made of, for the service of the API

    @property
    def engine(self) -> Engine:
        return self._engine

    @property
    def control(self) -> str:
        return self._control

    @property
    def roster(self) -> Roster:
        return self._roster

    @property
    def crawls(self) -> Bucket:
        return self._view.crawls

    @property
    def crawl(self) -> Crawl | None:
        return self._view.crawl

    @property
    def wanted(self) -> Wanted:
        return self._view.wanted

    def url_rules(self) -> UrlRules:
        canonical = self._settings.canonical
        return UrlRules(
            canonical.strip_parameters,
            canonical.strip_sessions,
            canonical.max_length,
            self._settings.grouping,
        )

    def check_settings(self, settings: CrawlSettings) -> None:
        """What only the native part can check (regular expressions, ranges): `ValueError`."""
        self._coder.encode([], settings)

    # --- views

    def settings(self) -> CrawlSettings:
        return self._settings

    def summary(self) -> Summary:
        """The crawl as a whole."""
        value = self._view.map
        leader = self._leader.current
        return Summary(
            crawl=self._engine.names.crawl,
            state=self.state,
            wanted=type(self._view.wanted).__name__.lower(),
            time=time.time(),
            leader=leader.control if leader else "",
            epoch=value.epoch if value else 0,
            partitions=len(value.rows) if value else 0,
            moving=value.moving if value else 0,
            ownerless=value.ownerless if value else 0,
            progress=self._sum(_ACTIVITY.get(self.state, Activity.RUNNING)),
            nodes=self.nodes(),
            controls=self.controls(),
            stream_messages=self._stream_messages,
            stream_bytes=self._stream_bytes,
            seeds=len(self._seeds),
            events=list(self._events)[-20:],
            error=self._error or (STREAM_FULL if self._stream_full else ""),
        )

    status = summary

    def served_at(self, url: str) -> None:
        """Others learn with the next beat where this control node is reached."""
        self._leader.url = self._attendance.url = url

    def controls(self) -> list[ControlLine]:
        """The control nodes, this one first."""
        return self._attendance.lines(self._leader.current, leading=self.leading)

    def missed(self) -> list[str]:
        """Control nodes that are lost, if none waits in reserve any more."""
        return self._attendance.missed()

    def living(self) -> list[Known]:
        """The nodes that answer."""
        return [known for known in self._roster.nodes.values() if known.alive]

    def nodes(self) -> list[NodeLine]:
        counts: dict[str, int] = {}
        for row in self._view.map.rows if self._view.map else ():
            counts[row.owner] = counts.get(row.owner, 0) + 1
        lines = []
        for known in sorted(self._roster.nodes.values(), key=lambda one: one.name):
            status, progress = known.status, known.status.progress if known.status else None
            word = type(known.word).__name__.lower() if known.word else "unknown"
            if known.alive:
                state = status.state if status and known.fresh else "silent"
            else:
                state = "out" if word == "evicted" else "left"
            if known.name in self._leaving and known.alive:
                state = "leaving"
            lines.append(
                NodeLine(
                    node=known.name,
                    state=state,
                    partitions=counts.get(known.name, 0),
                    pages=progress.pages if progress else 0,
                    urls_queued=progress.urls_queued if progress else 0,
                    in_flight=progress.in_flight if progress else 0,
                    outbox=status.outbox if status else 0,
                    host=status.host if status else "",
                    pid=status.pid if status else 0,
                    lease_left=status.lease_left if status else 0.0,
                    heard=time.monotonic() - known.status_at if status else None,
                    notes=status.notes if status else [],
                )
            )
        lines += [
            NodeLine(node=name, state="refused", partitions=0, notes=[text])
            for name, text in sorted(self._roster.refused.items())
        ]
        return lines

    def troubles(self) -> list[Trouble]:
        """What is wrong with the cluster as a whole, as far as this control node knows."""
        value = self._view.map
        found = {
            Trouble.ENGINE_AWAY: not self._engine.connected,
            Trouble.STREAM_FULL: self._stream_full,
            Trouble.OWNERLESS: value is not None and value.ownerless > 0,
            Trouble.NODE_REFUSED: bool(self._roster.refused),
        }
        return [trouble for trouble, stands in found.items() if stands]

    def partitions(self) -> PartitionMap | None:
        return self._view.map

    # --- commands

    async def pause(self) -> None:
        await self._want(Pause(since=time.time()))

    async def resume(self) -> None:
        self._finish.again()
        await self._want(Resume(since=time.time()))

    async def stop(self, reason: str = "stopped by command") -> None:
        await self._want(Shutdown(since=time.time(), reason=reason))

    async def checkpoint(self) -> dict[str, object]:
        """Snapshots of everything, now; gives for each node how many, or its error."""
        return await self.ask_all("snapshot", seconds=SNAPSHOT_ANSWER)

    async def rerank(self) -> dict[str, object]:
        """Every node puts what is queued in the order of the settings; gives who has begun."""
        return await self.ask_all("rerank")

    async def resend(self, since: float) -> dict[str, object]:
        """Every node sends the links again that it sent since then; so do we with the seeds."""
        self._seeds_sent = 0
        await asyncio.to_thread(self._copy.set_sent, 0)
        self._finish.again()
        self._view.hint.set()
        return await self.ask_all("resend", {"since_us": round(since * 1e6)})

    async def follow_settings(self) -> None:
        """Learns now what another control node may have changed."""
        await self._view.refresh()
        self._follow_settings()

    async def set_settings(
        self, settings: CrawlSettings, expected: int | None = None, account: str = ""
    ) -> int:
        """Live settings for every node; gives the number of the change.

        `expected`: the change before it; another one is a `ConflictError`.
        """
        while True:
            await self._view.refresh()
            crawl = self._view.crawl
            if crawl is None or self._view.crawl_revision is None:
                raise EngineAwayError("the crawl is not known yet")
            if expected is not None and crawl.change != expected:
                raise ConflictError(f"the settings are at change {crawl.change} by now")
            if crawl.account:
                with contextlib.suppress(ConflictError):
                    await self._view.crawls.create(f"change.{crawl.change}", crawl.account.encode())
            changed = msgspec.structs.replace(
                crawl,
                settings=self._write_settings(settings),
                change=crawl.change + 1,
                account=account,
            )
            try:
                await self._view.crawls.update("crawl", encode(changed), self._view.crawl_revision)
            except ConflictError:
                continue
            self._settings, self._change = settings, changed.change
            return changed.change

    async def remove_node(self, node: str) -> None:
        """The node hands everything over and ends; one that was lost is forgotten."""
        known = self._roster.nodes.get(node)
        if known is not None and isinstance(known.word, Evicted):
            value = self._view.map
            if value is not None and node in value.nodes():
                raise UsageError(f"{node} still owns partitions, which others are about to get")
            await self._roster.forget(known)
            return
        if known is None or not known.alive:
            raise UsageError(f"there is no node {node} in this crawl")
        others = {known.name for known in self.living()} - self._leaving - {node}
        if not others:
            raise UsageError(f"{node} is the last node; stop the crawl instead")
        await self._set_leaving(self._leaving | {node})
        self._view.hint.set()

    async def hold_node(self, node: str, *, hold: bool) -> None:
        """Holds one node back, or lets it go; kept in the engine until it is changed."""
        known = self._roster.nodes.get(node)
        if known is None or not known.alive:
            raise UsageError(f"there is no node {node} in this crawl")
        await self._set_held(node, hold=hold)

    async def keep_node(self, node: str) -> None:
        """Calls a removal off."""
        await self._set_leaving(self._leaving - {node})
        self._view.hint.set()

    async def move(self, partitions: Sequence[int], node: str) -> None:
        known = self._roster.nodes.get(node)
        if known is None or not known.alive:
            raise UsageError(f"there is no node {node} in this crawl")
        while True:
            value = await self._view.read_map()
            if value is None:
                raise EngineAwayError("there is no map yet")
            if any(not 0 <= number < len(value.rows) for number in partitions):
                raise UsageError(f"partitions are numbered from 0 to {len(value.rows) - 1}")
            try:
                await self._view.change_map(move(value, partitions, node))
            except ConflictError:
                continue
            return

    async def ask_node(
        self, node: str, name: str, body: object = None, seconds: float = ANSWER
    ) -> object:
        """A question of the closed list in `cluster.questions` to one node."""
        question = Question(name=name, body=msgspec.Raw(msgspec.json.encode(body)))
        subject = self._engine.names.node(node)
        answer = decode(
            await self._engine.request(subject, encode(question), seconds), Answer, f"node {node}"
        )
        if answer.error:
            raise UsageError(f"{node}: {answer.error}")
        return msgspec.json.decode(bytes(answer.body))

    async def ask_all(
        self, name: str, body: object = None, seconds: float = ANSWER
    ) -> dict[str, object]:
        """The same question to all that live; an error is that node's answer."""

        async def one(node: str) -> object:
            try:
                return await self.ask_node(node, name, body, seconds)
            except (EngineError, UsageError) as error:
                return {"error": str(error)}

        names = sorted(known.name for known in self.living())
        return dict(zip(names, await asyncio.gather(*map(one, names)), strict=True))

    def owner_of(self, partition: int) -> str:
        value = self._view.map
        return value.rows[partition].owner if value else ""
