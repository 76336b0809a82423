"""Which control node leads: a lease in the engine.

Guarantees: `leading` is true in one process at a time, as far as clocks run at the same speed; and
where they do not, every change a leader makes is a compare-and-set, so a second one does no harm.
"""

import contextlib

from gossamer.clock import SYSTEM, Clock
from gossamer.cluster.lease import FENCE_SHARE, RENEWALS
from gossamer.cluster.messages import Leader, decode, encode
from gossamer.engine import Bucket
from gossamer.errors import ConflictError

KEY = "leader"
GIVE_UP_TRIES = 3


class LeaderLease:
    def __init__(self, bucket: Bucket, control: str, seconds: float, clock: Clock = SYSTEM) -> None:
        self._bucket = bucket
        self._control = control
        self._seconds = seconds
        self._clock = clock
        self.url = ""
        """Where this control node is reached, once it is."""
        self._beat = 0
        self._until = 0
        self._seen: tuple[int, int] = (-1, 0)
        self.current: Leader | None = None

    @property
    def leading(self) -> bool:
        return self._clock.micros() < self._until

    @property
    def every(self) -> float:
        return self._seconds / RENEWALS

    async def round(self) -> None:
        """Renews our lead, or takes it if nobody has renewed theirs for a whole lease."""
        entry = await self._bucket.get(KEY)
        now = self._clock.micros()
        if entry is not None:
            self.current = decode(entry.value, Leader, "the leading control node")
            if self._seen[0] != entry.revision:
                self._seen = (entry.revision, now)
            free = self.current.beat < 0
            silent = now - self._seen[1] >= self._seconds * 1e6
            if self.current.control != self._control and not (silent or free):
                self._until = 0
                return
        self._beat += 1
        mine = Leader(control=self._control, beat=self._beat, time=self._clock.now(), url=self.url)
        try:
            revision = await self._bucket.change(
                KEY, encode(mine), entry.revision if entry else None
            )
        except ConflictError:
            self._until = 0
            return
        self._seen = (revision, now)
        self.current = mine
        self._until = now + round(self._seconds * FENCE_SHARE * 1e6)

    async def give_up(self) -> None:
        """Lets another lead at once, if the lead is still ours; also when we could not renew it in time."""
        self._until = 0
        mine = Leader(control=self._control, beat=-1, time=self._clock.now(), url="")
        # A renewal may be under way whose answer was not waited for: then it is read what became of it.
        for _ in range(GIVE_UP_TRIES):
            entry = await self._bucket.get(KEY)
            if entry is None:
                return
            last = decode(entry.value, Leader, "the leading control node")
            if last.control != self._control or last.beat < 0:
                return
            with contextlib.suppress(ConflictError):
                await self._bucket.update(KEY, encode(mine), entry.revision)
                return
