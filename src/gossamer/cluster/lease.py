"""A node's lease: one key, renewed by compare-and-set.

Guarantees: `fence` is three quarters of a lease after the moment at which the last acknowledged
renewal was *sent*; the control node takes a node out a whole lease after it *saw* a renewal, which
is later. So a node has stopped visiting before its partitions are anybody else's, as long as clocks
run at the same speed to within a quarter. The clock also counts while a machine sleeps.
"""

from gossamer.clock import SYSTEM, Clock
from gossamer.cluster.messages import (
    Evicted,
    Heartbeat,
    Register,
    Unregister,
    decode_node_record,
    encode,
)
from gossamer.engine import Bucket
from gossamer.errors import ConflictError, EngineEmptyError, EngineError, EvictedError

FENCE_SHARE = 0.75
RENEWALS = 3


class Lease:
    """The lease of one node. All calls from one task."""

    def __init__(
        self,
        bucket: Bucket,
        node: str,
        incarnation: str,
        seconds: float,
        *,
        address: str = "",
        pid: int = 0,
        clock: Clock = SYSTEM,
    ) -> None:
        self._bucket = bucket
        self.node = node
        self.incarnation = incarnation
        self.seconds = seconds
        self._address, self._pid = address, pid
        self._clock = clock
        self._revision: int | None = None
        self._registered = False
        """At any time since this process began."""
        self._beat = 0
        self.fence: int | None = None
        """Visits may begin before this moment of CLOCK_BOOTTIME, in microseconds."""
        self.checked = False
        """Since we registered, the map was read and what is not ours was given up. Until then
        renewals do not move the fence: a lease alone does not say what it is a lease of."""

    @property
    def every(self) -> float:
        return self.seconds / RENEWALS

    @property
    def left(self) -> float:
        """Seconds in which visits may begin."""
        return 0.0 if self.fence is None else max(0.0, (self.fence - self._clock.micros()) / 1e6)

    async def take(self) -> bool:
        """Registers. False: another node of this name lives, or did a moment ago; try again.

        `EvictedError`: this incarnation was taken out.
        """
        entry = await self._bucket.get(self.node)
        if entry is not None:
            last = decode_node_record(entry.value, self.node)
            # A control node that takes out one of which a new engine knows nothing cannot name its
            # incarnation; it means whoever was there before.
            unnamed = last.incarnation == "" and self._registered
            if last.incarnation == self.incarnation or unnamed:
                if isinstance(last, Evicted):
                    raise EvictedError(f"node {self.node} was taken out: {last.reason}")
            elif isinstance(last, Register | Heartbeat):
                return False
        self.checked = False
        record = Register(
            node=self.node,
            incarnation=self.incarnation,
            time=self._clock.now(),
            address=self._address,
            pid=self._pid,
        )
        try:
            self._revision = await self._bucket.change(
                self.node, encode(record), entry.revision if entry else None
            )
        except ConflictError:
            return False
        self._registered = True
        return True

    async def renew(self) -> None:
        """`EvictedError`: taken out. Other `EngineError`s: not renewed, the fence stands."""
        if self._revision is None:
            if not await self.take():
                raise EvictedError(f"another node took the name {self.node}")
            return
        self._beat += 1
        sent = self._clock.micros()
        record = Heartbeat(
            node=self.node,
            incarnation=self.incarnation,
            beat=self._beat,
            time=self._clock.now(),
            address=self._address,
            pid=self._pid,
        )
        try:
            self._revision = await self._bucket.update(self.node, encode(record), self._revision)
        except ConflictError:
            await self._look(sent)
            return
        except EngineEmptyError:
            # A new engine knows nobody: register again, when its buckets are there again.
            self._revision = None
            raise
        self._move_fence(sent)

    async def _look(self, sent: int) -> None:
        """Why the renewal was refused: an earlier one that was only thought lost, or the end."""
        entry = await self._bucket.get(self.node)
        if entry is None:
            self._revision = None
            return
        record = decode_node_record(entry.value, self.node)
        if isinstance(record, Evicted):
            raise EvictedError(f"node {self.node} was taken out: {record.reason}")
        if record.incarnation != self.incarnation:
            raise EvictedError(f"another node took the name {self.node}")
        self._revision = entry.revision
        if isinstance(record, Heartbeat) and record.beat == self._beat:
            self._move_fence(sent)

    def _move_fence(self, sent: int) -> None:
        if not self.checked:
            return
        self.fence = sent + round(self.seconds * FENCE_SHARE * 1e6)

    async def give_up(self, *, keeps: bool) -> None:
        """The node goes in order: nothing of it visits any more."""
        if self._revision is None:
            return
        record = Unregister(
            node=self.node, incarnation=self.incarnation, time=self._clock.now(), keeps=keeps
        )
        try:
            await self._bucket.update(self.node, encode(record), self._revision)
        except EngineError:
            # It will be taken out when its lease has ended.
            return
        finally:
            self._revision, self.fence = None, None
