"""When a crawl is over: all nodes idle, nothing unsent, nothing unread, twice in a row the same.

Once is not enough: the statuses are of different moments, and a link may have been between two nodes
when each was asked. If the counters are the same a second time, nothing has moved in between.
"""

from gossamer.cluster.assignment import Assignment
from gossamer.control.leader.membership import Membership
from gossamer.engine import LinkStream
from gossamer.model.progress import Activity

IDLE = {Activity.FINISHED}


class Termination:
    """Looks at the crawl until it sees it at rest twice."""

    def __init__(self, membership: Membership, stream: LinkStream) -> None:
        self._membership = membership
        self._stream = stream
        self._last: tuple[object, ...] | None = None
        self._times: dict[str, float] = {}

    def restart(self) -> None:
        """Something new was put in: begin to look anew."""
        self._last = None

    async def reached(self, value: Assignment) -> bool:
        if value.moving or value.ownerless:
            self._last = None
            return False
        counters: list[object] = [value.epoch]
        times: dict[str, float] = {}
        lowest: int | None = None
        for name in sorted(value.nodes()):
            known = self._membership.nodes.get(name)
            status = known.fresh if known else None
            if (
                status is None
                or status.ahead
                or status.progress is None
                or status.progress.activity not in IDLE
                or status.progress.in_flight
                or status.outbox
                or status.map_epoch != value.epoch
            ):
                self._last = None
                return False
            lowest = status.read_to if lowest is None else min(lowest, status.read_to)
            progress = status.progress
            counters.append((name, progress.visits, progress.urls_seen, progress.urls_queued))
            times[name] = status.time
        state = await self._stream.state()
        if lowest is None or lowest < state.last:
            self._last = None
            return False
        counters.append((state.identity, state.last))
        now = tuple(counters)
        if self._last != now:
            self._last, self._times = now, times
            return False
        # The same again, and from later statuses of everybody.
        return all(times[name] > self._times[name] for name in times)
