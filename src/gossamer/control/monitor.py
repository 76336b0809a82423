"""What is watched of a crawl, whichever it is: the last status, counters over time, alerts."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gossamer.clock import SYSTEM, Clock
from gossamer.control.alerts import Alerts, Trouble
from gossamer.control.eta import Limits, time_left
from gossamer.control.event_log import EventLog
from gossamer.control.node_readings import NodeReadings
from gossamer.control.outages import Outages
from gossamer.control.readings import Readings
from gossamer.control.schemas import EventKind, History, NodeView, Status
from gossamer.control.schemas.status import DoorView
from gossamer.control.service import NotKnownError, UnreachableError
from gossamer.counts import APART
from gossamer.model.progress import Progress

COUNTERS = (
    "pages", "pages_dropped", "bytes", "urls_seen", "urls_queued", "urls_set_aside", "visits", "in_flight", "hosts_known",
    "hosts_active", "hosts_waiting", "hosts_set_aside", "hosts_blocked", "hosts_aliases",
    "reranking", "reranked",
    "outcomes", *APART, "links_left_out", "robots_said", "soft_404s", "script_pages", "rss", "disk", "seconds", "next_due",
)  # fmt: skip
"""Fields of `Progress` that a status gives as they are."""


class Pace(NamedTuple):
    """How fast it goes, and for how long still."""

    pages: float
    bytes: float
    eta_seconds: float | None
    eta_from: str | None


class Monitor:
    """Filled once a second by a service."""

    def __init__(self, event_log: EventLog, clock: Clock = SYSTEM) -> None:
        self._event_log = event_log
        self._clock = clock
        self.readings = Readings()
        self.node_readings = NodeReadings()
        self.alerts = Alerts(event_log)
        self.outages = Outages(event_log)
        self.last: Status | None = None
        self._taken = 0.0
        """When the last status came, on the monotonic clock: the time of day may be set meanwhile."""
        self._reranked = 0

    def pace(self, now: float, progress: Progress, limits: Limits) -> Pace:
        pages = self.readings.rate("pages", now, progress.pages)
        visits = self.readings.rate("visits", now, progress.visits)
        left, ending = time_left(limits, progress, pages, visits)
        size = self.readings.rate("bytes", now, progress.bytes)
        return Pace(round(pages, 2), round(size, 1), left, ending)

    def take(
        self,
        status: Status,
        nodes: list[NodeView],
        *,
        troubles: Sequence[Trouble] = (),
        missed: Sequence[str] = (),
        doors: Mapping[str, Mapping[str, DoorView]] | None = None,
        tell: bool = True,
    ) -> None:
        """A new status. `tell`: what has begun and ended since becomes events. The rest: see `Alerts`."""
        self.readings.add(status)
        self.node_readings.add(status.time, nodes)
        self.alerts.judge(
            status,
            nodes,
            self.readings,
            troubles=troubles,
            missed=missed,
            doors=doors,
            tell=tell,
        )
        self.outages.judge(status, tell=tell)
        self._note_reranked(status, tell=tell)
        self.last, self._taken = status, self._clock.monotonic()

    def _note_reranked(self, status: Status, *, tell: bool) -> None:
        """Tells when the queues are in their new order."""
        if status.reranking == 0 and status.reranked != self._reranked:
            moved = status.reranked - self._reranked
            if moved > 0 and tell:
                words = f"re-ranking is done: {moved} URLs have got another place"
                self._event_log.tell(EventKind.RERANK, words, data={"moved": moved})
            self._reranked = status.reranked

    def node_history(self, node: str, seconds: float, now: float) -> History:
        history = self.node_readings.page(node, seconds, now)
        if history is None:
            raise NotKnownError("no_such_node", f"there is no node {node[:100]}")
        return history

    def status(self) -> Status:
        if self.last is None:
            raise UnreachableError("not_ready", "it has just begun; ask again", again=1)
        return self.last

    def age(self) -> float | None:
        """Seconds since the last status; None: there was none."""
        return None if self.last is None else self._clock.monotonic() - self._taken
