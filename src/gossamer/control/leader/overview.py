"""What a control node sees: the crawl as a whole, the nodes, the control nodes, what is wrong."""

from collections import deque

import msgspec

from gossamer.clock import SYSTEM, Clock
from gossamer.cluster.crawl_state import CrawlState
from gossamer.cluster.messages import Evicted, Unregister
from gossamer.cluster.summary import ControlLine, NodeLine, Summary, total
from gossamer.control.alerts import Trouble
from gossamer.control.leader.disk_watch import DiskWatch
from gossamer.control.leader.drain import Drain
from gossamer.control.leader.lease import LeaderLease
from gossamer.control.leader.membership import KnownNode, Membership
from gossamer.control.leader.seed_queue import SeedQueue
from gossamer.control.leader.standbys import Standbys
from gossamer.control.leader.stream_watch import StreamWatch
from gossamer.engine import Engine
from gossamer.model.progress import Activity, DoorReport, Progress

STREAM_FULL = (
    "the stream of links is nearly full: nodes take snapshots so that it can forget, and begin no new "
    "visits while it is full; raise cluster.links_bytes if this comes again"
)
LAST_EVENTS = 200
SHOWN_EVENTS = 20
_ACTIVITY = {"finished": Activity.FINISHED, "paused": Activity.PAUSED}


class Overview:
    """Reads the other parts; `phase` and `error` are the loop's."""

    def __init__(
        self,
        engine: Engine,
        state: CrawlState,
        *,
        lease: LeaderLease,
        standbys: Standbys,
        membership: Membership,
        drain: Drain,
        seeds: SeedQueue,
        stream_watch: StreamWatch,
        disk: DiskWatch,
        clock: Clock = SYSTEM,
    ) -> None:
        self._engine = engine
        self._state = state
        self._lease = lease
        self._standbys = standbys
        self._membership = membership
        self._drain = drain
        self._seeds = seeds
        self._stream_watch = stream_watch
        self._disk = disk
        self._clock = clock
        self._events: deque[str] = deque(maxlen=LAST_EVENTS)
        self.phase = "waiting"
        """waiting, running, paused, finished, stopping"""
        self.limited = False
        """It is finished because of a limit, not because everything was visited."""
        self.error = ""
        """What the loop waits for, if it does."""

    def note(self, event: str) -> None:
        """Something happened, in words."""
        self._events.append(event)

    def progress(self, activity: Activity = Activity.RUNNING) -> Progress:
        """Sums of the nodes' counters; on the disk also what is not the nodes'."""
        sums = total(self._membership.readings(), activity)
        return msgspec.structs.replace(sums, disk=sums.disk + self._disk.bytes)

    def summary(self) -> Summary:
        """The crawl as a whole."""
        value = self._state.map
        leader = self._lease.current
        return Summary(
            crawl=self._engine.names.crawl,
            state=self.phase,
            wanted=type(self._state.wanted).__name__.lower(),
            time=self._clock.now(),
            leader=leader.control if leader else "",
            epoch=value.epoch if value else 0,
            partitions=len(value.rows) if value else 0,
            moving=value.moving if value else 0,
            ownerless=value.ownerless if value else 0,
            progress=self.progress(self._activity()),
            nodes=self.nodes(),
            controls=self.control_nodes(),
            stream_messages=self._stream_watch.messages,
            stream_bytes=self._stream_watch.bytes,
            seeds=len(self._seeds),
            events=list(self._events)[-SHOWN_EVENTS:],
            error=self.error or (STREAM_FULL if self._stream_watch.full else ""),
        )

    def _activity(self) -> Activity:
        if self.phase == "finished" and self.limited:
            return Activity.LIMIT_REACHED
        return _ACTIVITY.get(self.phase, Activity.RUNNING)

    def control_nodes(self) -> list[ControlLine]:
        """The one that is asked comes first."""
        return self._standbys.lines(self._lease.current, leading=self._lease.leading)

    def nodes(self) -> list[NodeLine]:
        counts: dict[str, int] = {}
        for row in self._state.map.rows if self._state.map else ():
            counts[row.owner] = counts.get(row.owner, 0) + 1
        known = sorted(self._membership.nodes.values(), key=lambda one: one.name)
        lines = [self._node(one, counts.get(one.name, 0)) for one in known]
        lines += [
            NodeLine(node=name, state="refused", partitions=0, notes=[text])
            for name, text in sorted(self._membership.refused.items())
        ]
        return lines

    def _node(self, known: KnownNode, partitions: int) -> NodeLine:
        status, progress = known.status, known.status.progress if known.status else None
        return NodeLine(
            node=known.name,
            state=self._node_state(known),
            partitions=partitions,
            pages=progress.pages if progress else 0,
            urls_queued=progress.urls_queued if progress else 0,
            in_flight=progress.in_flight if progress else 0,
            outbox=status.outbox if status else 0,
            host=status.host if status else "",
            pid=status.pid if status else 0,
            lease_left=status.lease_left if status else 0.0,
            heard=self._clock.monotonic() - known.status_at if status else None,
            notes=status.notes if status else [],
        )

    def _node_state(self, known: KnownNode) -> str:
        if isinstance(known.record, Evicted):
            return "out"
        if isinstance(known.record, Unregister):
            return "left"
        # Also without a record: an engine that lost it does not make a node leave.
        if known.name in self._drain.nodes:
            return "leaving"
        status = self._membership.heard(known)
        return status.state if status else "silent"

    def doors(self) -> dict[str, dict[str, DoorReport]]:
        """How the policies of each node did, as far as it may live."""
        return {
            known.name: known.status.progress.doors
            for known in self._membership.expected()
            if known.status is not None and known.status.progress is not None
        }

    def troubles(self) -> list[Trouble]:
        """What is wrong with the cluster as a whole, as far as this control node knows."""
        value = self._state.map
        found = {
            Trouble.ENGINE_AWAY: not self._engine.connected,
            Trouble.STREAM_FULL: self._stream_watch.full,
            Trouble.OWNERLESS: value is not None and value.ownerless > 0,
            Trouble.NODE_REFUSED: bool(self._membership.refused),
        }
        return [trouble for trouble, stands in found.items() if stands]
