"""The nodes as a control node sees them: their last record in the engine, and their last status.

Every control node keeps one, the leading one and those that stand by: who takes the lead then knows
already who lives. Guarantees: a node counts as silent only when its key in the engine has not
changed for a whole lease of *our* clock, and time in which we could not read it does not count.
"""

import asyncio
import contextlib
from collections.abc import Collection
from dataclasses import dataclass, field
from enum import Enum, auto

from gossamer.clock import SYSTEM, Clock
from gossamer.cluster.lease import RENEWALS
from gossamer.cluster.messages import (
    Evicted,
    Heartbeat,
    NodeRecord,
    NodeStatus,
    Register,
    Unregister,
    decode,
    decode_node_record,
    encode,
)
from gossamer.control.leader.hearing import Hearing
from gossamer.engine import Bucket, Entry
from gossamer.errors import ConflictError, VersionError
from gossamer.model.progress import Progress

FRESH = 3.0
"""A status that is older, in seconds, says nothing about now."""

FORGET = 86400.0
TOGETHER = 32
"""Keys that are read at a time."""

LEFT = "it left"
"""Why a node was taken out that went in order and keeps nothing."""

LOOKS = 4
"""Reads of all keys in the time in which a node renews once."""


class Presence(Enum):
    """What a control node can say of a name."""

    LIVES = auto()
    LOST = auto()
    """It was taken out."""
    UNKNOWN = auto()
    """Its record is not known now: the engine lost it, or it was not read yet."""
    NONE = auto()
    """There is no such node: the engine was asked."""


@dataclass
class KnownNode:
    name: str
    record: NodeRecord | None = None
    revision: int = 0
    since: int = 0
    """When we saw this revision first, on CLOCK_BOOTTIME."""
    renewed: bool = False
    """We saw it change: the node lived while we looked."""
    status: NodeStatus | None = None
    status_at: float = field(default=0.0)
    heard_at: float = 0.0
    """The same, in the time in which we could hear."""
    clock: Clock = SYSTEM

    @property
    def alive(self) -> bool:
        return isinstance(self.record, Register | Heartbeat)

    @property
    def fresh(self) -> NodeStatus | None:
        """The status, if it is of now and of this incarnation."""
        return self.last if self.clock.monotonic() - self.status_at <= FRESH else None

    @property
    def last(self) -> NodeStatus | None:
        """The last status of this incarnation."""
        record, status = self.record, self.status
        if record is not None and status is not None and record.incarnation != status.incarnation:
            return None
        return status

    def silent(self) -> float:
        """Seconds since its key changed."""
        return (self.clock.micros() - self.since) / 1e6


class Membership:
    def __init__(self, bucket: Bucket, clock: Clock = SYSTEM) -> None:
        self._bucket = bucket
        self._clock = clock
        self.hearing = Hearing(clock)
        self._due = 0
        """When the nodes' keys are read next, by our clock in microseconds."""
        self._read = 0
        """When they were read last."""
        self.complete = False
        """Every node's key was read since we began, or since the engine was wiped."""
        self.nodes: dict[str, KnownNode] = {}
        self._past: dict[tuple[str, str], Progress] = {}
        self.refused: dict[str, str] = {}
        """Nodes of another version, and what is wrong."""

    def note_status(self, subject: str, data: bytes) -> None:
        name = subject.rpartition(".")[2]
        try:
            status = decode(data, NodeStatus, f"node {name}")
        except VersionError as error:
            self.refused[name] = str(error)
            return
        known = self.expect(name)
        if not known.alive:
            self._due = 0
        last = known.status
        if last is not None and last.incarnation != status.incarnation and last.progress:
            self._past[name, last.incarnation] = last.progress
        known.status, known.status_at = status, self._clock.monotonic()
        known.heard_at = self.hearing.time

    def heard(self, known: KnownNode) -> NodeStatus | None:
        """Its last status, unless it has said nothing for a while in which we could hear."""
        return known.last if self.hearing.time - known.heard_at <= FRESH else None

    def readings(self) -> list[tuple[Progress, bool]]:
        """Counters of every incarnation that we heard of, and whether it is one of now."""
        rows = [(progress, False) for progress in self._past.values()]
        rows += [
            (known.status.progress, not isinstance(known.record, Evicted))
            for known in self.nodes.values()
            if known.status is not None and known.status.progress is not None
        ]
        return rows

    def counted(self) -> list[str]:
        """The nodes whose counters of now are among the readings."""
        return [
            known.name
            for known in self.nodes.values()
            if known.status is not None
            and known.status.progress is not None
            and not isinstance(known.record, Evicted)
        ]

    def living(self) -> list[KnownNode]:
        """The nodes that have a lease, as far as we know."""
        return [known for known in self.nodes.values() if known.alive]

    def expected(self) -> list[KnownNode]:
        """Those that live, and those whose record is not known now."""
        return [known for known in self.nodes.values() if known.alive or known.record is None]

    def has_left(self, name: str) -> bool:
        """Whether a node said that it goes; one that was taken out for its silence did not."""
        record = self.nodes[name].record if name in self.nodes else None
        return isinstance(record, Unregister) or (
            isinstance(record, Evicted) and record.reason == LEFT
        )

    def presence(self, name: str, owners: Collection[str]) -> Presence:
        """`owners`: the nodes that the map names. Only a read that showed no such node says NONE."""
        known = self.nodes.get(name)
        if known is not None and known.alive:
            return Presence.LIVES
        if known is not None and isinstance(known.record, Evicted):
            return Presence.LOST
        is_unknown = known is not None and known.record is None
        if is_unknown or name in owners or not self.complete:
            return Presence.UNKNOWN
        return Presence.NONE

    def any_within(self, seconds: float) -> bool:
        """Whether some node has renewed its lease in the last seconds."""
        return any(known.silent() <= seconds for known in self.living())

    async def follow(self, lease: float) -> None:
        """`refresh`, a few times in the time in which every node renews once.

        A node that nobody knows yet is looked for as soon as its first status comes.
        """
        if self._clock.micros() >= self._due:
            await self.refresh()
            every = round(lease / RENEWALS / LOOKS * 1e6)
            self._excuse(every)
            self._due = self._read + every

    def _excuse(self, every: int) -> None:
        """Time in which we could not read is nobody's silence: the engine was away, or we slept."""
        before, self._read = self._read, self._clock.micros()
        away = self._read - before - RENEWALS * every
        if before and away > 0:
            for known in self.nodes.values():
                if known.since <= before:
                    known.since += away

    async def refresh(self) -> None:
        """Reads every node's key."""
        names = await self._bucket.keys()
        for start in range(0, len(names), TOGETHER):
            some = names[start : start + TOGETHER]
            entries = await asyncio.gather(*map(self._bucket.get, some))
            for name, entry in zip(some, entries, strict=True):
                self._note(name, entry)
        self.complete = True

    def _note(self, name: str, entry: Entry | None) -> None:
        if entry is None:
            self.nodes.pop(name, None)
            return
        try:
            record = decode_node_record(entry.value, name)
        except VersionError as error:
            self.refused[name] = str(error)
            return
        self.refused.pop(name, None)
        known = self.nodes.setdefault(name, KnownNode(name, clock=self._clock))
        if known.revision != entry.revision:
            known.renewed = known.revision != 0 or known.renewed
            known.record, known.revision, known.since = record, entry.revision, self._clock.micros()

    def forget_engine(self) -> None:
        """The engine is a new one: its revisions mean nothing, and everybody has time again."""
        self._due = 0
        self.complete = False
        for known in self.nodes.values():
            known.revision, known.since = 0, self._clock.micros()
            if known.alive or isinstance(known.record, Unregister):
                known.record = None

    def expect(self, name: str) -> KnownNode:
        """A node that the map names; unknown until it says something."""
        return self.nodes.setdefault(
            name, KnownNode(name, since=self._clock.micros(), clock=self._clock)
        )

    async def take_out(self, known: KnownNode, reason: str) -> bool:
        """From here on the node cannot renew. False: it did, a moment ago."""
        record = Evicted(
            node=known.name,
            incarnation=known.record.incarnation if known.record else "",
            time=self._clock.now(),
            reason=reason,
        )
        try:
            known.revision = await self._bucket.change(
                known.name, encode(record), known.revision or None
            )
        except ConflictError:
            return False
        known.record, known.since = record, self._clock.micros()
        return True

    async def forget_old(self, still_named: set[str]) -> None:
        """Nodes that are gone for a day and own nothing leave the list."""
        for known in list(self.nodes.values()):
            over = isinstance(known.record, Evicted | Unregister) and known.silent() > FORGET
            if over and known.name not in still_named:
                await self.forget(known)

    def drop_unknown(self, still_named: Collection[str], patience: float) -> None:
        """Nodes that did not come back after the engine lost their records, and own nothing."""
        for known in list(self.nodes.values()):
            over = known.record is None and known.fresh is None and known.silent() > patience
            if over and self.complete and known.name not in still_named:
                del self.nodes[known.name]
                if known.status is not None and known.status.progress is not None:
                    # What it has done is done.
                    self._past[known.name, known.status.incarnation] = known.status.progress

    async def forget(self, known: KnownNode) -> None:
        """As if it had never been, unless it has just come back."""
        with contextlib.suppress(ConflictError):
            await self._bucket.delete(known.name, known.revision)
            self.nodes.pop(known.name, None)
