"""Counters of each node over time, for plots: a reading in five seconds for an hour.

Filled once a second; bound: 720 readings of some 100 bytes for each node that is there.
"""

from collections import deque
from typing import Final

from gossamer.control.schemas import History, NodeView

COLUMNS: Final = ("pages", "bytes", "urls_queued", "in_flight", "rss")
STEP: Final = 5.0
READINGS: Final = 720


class NodeReadings:
    def __init__(self) -> None:
        self._rings: dict[str, deque[tuple[float, tuple[float, ...]]]] = {}

    def add(self, now: float, nodes: list[NodeView]) -> None:
        names = {node.id for node in nodes}
        for gone in self._rings.keys() - names:
            del self._rings[gone]
        for node in nodes:
            ring = self._rings.setdefault(node.id, deque(maxlen=READINGS))
            # A little early counts: the second that began the reading is never exact.
            if not ring or now - ring[-1][0] >= STEP * 0.9:
                values = [getattr(node, name) for name in COLUMNS]
                # One that has said nothing yet has no figures.
                if None not in values:
                    ring.append((now, tuple(map(float, values))))

    def page(self, node: str, seconds: float, now: float) -> History | None:
        """None: there is no such node."""
        ring = self._rings.get(node)
        if ring is None:
            return None
        rows = [row for row in ring if now - row[0] <= seconds]
        return History(
            step=STEP,
            times=[round(time, 3) for time, _ in rows],
            columns={name: [row[at] for _, row in rows] for at, name in enumerate(COLUMNS)},
            outcomes={},
        )
