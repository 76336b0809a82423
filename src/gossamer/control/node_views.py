"""The crawl nodes of a cluster as the API shows them, and what becomes of them as events."""

from pydantic import JsonValue

import gossamer
from gossamer.clock import SYSTEM, Clock
from gossamer.control.event_log import EventLog
from gossamer.control.leader.control_node import ControlNode
from gossamer.control.schemas import Event, EventKind, NodeState, NodeView
from gossamer.control.schemas.status import inner_view
from gossamer.model.progress import Activity

RATE_SPAN = 10.0

_STATES = {
    "joining": NodeState.JOINING,
    "running": NodeState.RUNNING,
    "pausing": NodeState.RUNNING,
    "paused": NodeState.PAUSED,
    "leaving": NodeState.LEAVING,
    "fenced": NodeState.SILENT,
    "silent": NodeState.SILENT,
    "out": NodeState.LOST,
}
_TOLD = {NodeState.SILENT: EventKind.NODE_SILENT, NodeState.LOST: EventKind.NODE_FAILED}


class NodeViews:
    """One control node's view of the crawl nodes."""

    def __init__(self, node: ControlNode, event_log: EventLog, clock: Clock = SYSTEM) -> None:
        """`clock`: the one by which the control node notes when it heard of a node."""
        self._node = node
        self._event_log = event_log
        self._clock = clock
        self._rates: dict[str, list[tuple[float, int]]] = {}
        self._told: dict[str, str] = {}
        """The state of each node that was told last, by whoever led then."""

    def all(self) -> list[NodeView]:
        return [
            self._view(line.node, line.state, line.partitions, line.notes)
            for line in self._node.overview.nodes()
            if line.state not in {"left", "refused"}
        ]

    def get(self, name: str) -> NodeView | None:
        return next((view for view in self.all() if view.id == name), None)

    def _view(self, name: str, state: str, partitions: int, notes: list[str]) -> NodeView:
        known = self._node.membership.nodes.get(name)
        status = known.status if known else None
        progress = status.progress if status else None
        now = self._clock.now()
        record = known.record.time if known and known.record else now
        heard = now - (self._clock.monotonic() - known.status_at) if known and status else record
        shown = _STATES.get(state, NodeState.SILENT)
        if progress is not None and progress.activity is Activity.DISK_FULL:
            shown = NodeState.DISK_FULL
        return NodeView(
            id=name,
            state=shown,
            address=(status.host or None) if status else None,
            pid=status.pid or None if status else None,
            version=gossamer.__version__,
            uptime=round(now - status.started, 1) if status else None,
            last_heartbeat=round(heard, 3),
            pages=progress.pages if progress else None,
            bytes=progress.bytes if progress else None,
            urls_seen=progress.urls_seen if progress else None,
            urls_queued=progress.urls_queued if progress else None,
            in_flight=progress.in_flight if progress else None,
            hosts_known=progress.hosts_known if progress else None,
            pages_per_second=round(self._rate(name, progress.pages), 2) if progress else None,
            rss=progress.rss if progress else None,
            disk=progress.disk if progress else None,
            disk_free=status.disk_free if status else None,
            partitions=partitions,
            settings_version=status.settings if status else None,
            note="; ".join(notes),
            inner=inner_view(progress.inner) if progress else None,
        )

    def _rate(self, name: str, pages: int) -> float:
        now = self._clock.monotonic()
        row = self._rates.setdefault(name, [])
        row.append((now, pages))
        while len(row) > 1 and now - row[0][0] > RATE_SPAN:
            row.pop(0)
        passed = now - row[0][0]
        return max(0.0, (pages - row[0][1]) / passed) if passed > 0.5 else 0.0

    # --- events

    def learn(self, event: Event) -> None:
        """What was told of nodes, by whoever led then."""
        state = event.data.get("state")
        if event.node is not None and isinstance(state, str):
            self._told[event.node] = state
        if event.kind is EventKind.NODE_LEFT and event.node is not None:
            self._told.pop(event.node, None)

    def tell(self, nodes: list[NodeView]) -> None:
        """What has changed since it was told last."""
        for node in nodes:
            before = self._told.get(node.id)
            if before != node.state.value:
                words = f"{node.id} is {node.state.value}" + (f", was {before}" if before else "")
                usual = EventKind.NODE_JOINED if before is None else EventKind.CONTROL
                data: dict[str, JsonValue] = {"state": node.state.value}
                kind = _TOLD.get(node.state, usual)
                self._event_log.tell(kind, words, node=node.id, data=data)
                self._told[node.id] = node.state.value
        for gone in set(self._told) - {node.id for node in nodes}:
            self._event_log.tell(EventKind.NODE_LEFT, f"{gone} is gone", node=gone)
            del self._told[gone]
