"""The nodes as a control node sees them: their last word in the engine, and their last status.

Every control node keeps one, the leading one and those that stand by: who takes the lead then knows
already who lives. Guarantees: a node counts as silent only when its key in the engine has not
changed for a whole lease of *our* clock.
"""

import contextlib
import time
from dataclasses import dataclass, field

from gossamer.cluster.lease import boot_micros
from gossamer.cluster.messages import (
    Evicted,
    Heartbeat,
    NodeWord,
    Register,
    Status,
    Unregister,
    decode,
    decode_word,
    encode,
)
from gossamer.engine import Bucket
from gossamer.errors import ConflictError, VersionError
from gossamer.model.progress import Progress

FRESH = 3.0
"""A status that is older, in seconds, says nothing about now."""

FORGET = 86400.0


@dataclass
class Known:
    name: str
    word: NodeWord | None = None
    revision: int = 0
    since: int = 0
    """When we saw this revision first, on CLOCK_BOOTTIME."""
    renewed: bool = False
    """We saw it change: the node lived while we looked."""
    status: Status | None = None
    status_at: float = field(default=0.0)

    @property
    def alive(self) -> bool:
        return isinstance(self.word, Register | Heartbeat)

    @property
    def fresh(self) -> Status | None:
        """The status, if it is of now and of this incarnation."""
        if self.status is None or time.monotonic() - self.status_at > FRESH:
            return None
        if self.word is not None and self.word.incarnation != self.status.incarnation:
            return None
        return self.status

    def silent(self) -> float:
        """Seconds since its key changed."""
        return (boot_micros() - self.since) / 1e6


class Roster:
    def __init__(self, bucket: Bucket) -> None:
        self._bucket = bucket
        self.nodes: dict[str, Known] = {}
        self._past: dict[tuple[str, str], Progress] = {}
        self.refused: dict[str, str] = {}
        """Nodes of another version, and what is wrong."""

    def note_status(self, subject: str, data: bytes) -> None:
        name = subject.rpartition(".")[2]
        try:
            status = decode(data, Status, f"node {name}")
        except VersionError as error:
            self.refused[name] = str(error)
            return
        known = self.nodes.setdefault(name, Known(name, since=boot_micros()))
        last = known.status
        if last is not None and last.incarnation != status.incarnation and last.progress:
            self._past[name, last.incarnation] = last.progress
        known.status, known.status_at = status, time.monotonic()

    def readings(self) -> list[tuple[Progress, bool]]:
        """Counters of every incarnation that we heard of, and whether it is one of now."""
        rows = [(progress, False) for progress in self._past.values()]
        rows += [
            (known.status.progress, not isinstance(known.word, Evicted))
            for known in self.nodes.values()
            if known.status is not None and known.status.progress is not None
        ]
        return rows

    async def refresh(self) -> None:
        for name in await self._bucket.keys():
            entry = await self._bucket.get(name)
            if entry is None:
                self.nodes.pop(name, None)
                continue
            try:
                word = decode_word(entry.value, name)
            except VersionError as error:
                self.refused[name] = str(error)
                continue
            self.refused.pop(name, None)
            known = self.nodes.setdefault(name, Known(name))
            if known.revision != entry.revision:
                known.renewed = known.revision != 0 or known.renewed
                known.word, known.revision, known.since = word, entry.revision, boot_micros()

    def forget_engine(self) -> None:
        """The engine is a new one: its revisions mean nothing, and everybody has time again."""
        for known in self.nodes.values():
            known.revision, known.since = 0, boot_micros()
            if known.alive or isinstance(known.word, Unregister):
                known.word = None

    def expect(self, name: str) -> Known:
        """A node that the map names; unknown until it says something."""
        return self.nodes.setdefault(name, Known(name, since=boot_micros()))

    async def take_out(self, known: Known, reason: str) -> bool:
        """From here on the node cannot renew. False: it did, a moment ago."""
        word = Evicted(
            node=known.name,
            incarnation=known.word.incarnation if known.word else "",
            time=time.time(),
            reason=reason,
        )
        try:
            known.revision = await self._bucket.change(
                known.name, encode(word), known.revision or None
            )
        except ConflictError:
            return False
        known.word, known.since = word, boot_micros()
        return True

    async def forget_old(self, still_named: set[str]) -> None:
        for known in list(self.nodes.values()):
            over = isinstance(known.word, Evicted | Unregister) and known.silent() > FORGET
            if over and known.name not in still_named:
                await self.forget(known)

    async def forget(self, known: Known) -> None:
        """As if it had never been, unless it has just come back."""
        with contextlib.suppress(ConflictError):
            await self._bucket.delete(known.name, known.revision)
            self.nodes.pop(known.name, None)
