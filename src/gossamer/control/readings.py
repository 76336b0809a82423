"""History of the counters, for plots: a reading a second for ten minutes, one in ten for six hours, one in two minutes
for three days, one in half an hour for six weeks.

Filled once a second; bound: 7,080 readings of 1 to 2 KB (the counts by outcome take most), 14 MB, whatever the crawl's age.
"""

from collections import deque
from typing import Final

from gossamer.control.schemas import History, Status

COLUMNS: Final = (
    "pages", "bytes", "urls_seen", "urls_queued", "visits", "in_flight", "hosts_known",
    "hosts_active", "hosts_waiting", "hosts_set_aside", "rss", "disk",
)  # fmt: skip
RINGS: Final = ((1.0, 600), (10.0, 2160), (120.0, 2160), (1800.0, 2160))
"""Seconds between two readings, and how many are kept; finest first."""
EARLY: Final = 0.1
RATE_SPAN: Final = 10.0


class Readings:
    """The counters over time."""

    def __init__(self) -> None:
        self._rings = [
            (step, deque[tuple[float, tuple[float, ...], dict[str, int]]](maxlen=count))
            for step, count in RINGS
        ]

    def add(self, status: Status) -> None:
        values = tuple(float(getattr(status, name)) for name in COLUMNS)
        reading = (status.time, values, status.outcomes)
        for step, ring in self._rings:
            # A little early counts: the second that began the reading is never exact.
            if not ring or status.time - ring[-1][0] >= step - EARLY:
                ring.append(reading)

    def rate(self, column: str, now: float, value: float) -> float:
        """Growth per second over the last ten."""
        index = COLUMNS.index(column)
        for time, values, _ in self._rings[0][1]:
            if now - time <= RATE_SPAN:
                passed = now - time
                return max(0.0, (value - values[index]) / passed) if passed > 0.2 else 0.0
        return 0.0

    def growth(self, column: str, seconds: float, now: float, value: float) -> float | None:
        """How much a counter grew in that time; `None`: not known so far back."""
        index = COLUMNS.index(column)
        for _, ring in self._rings:
            if ring and now - ring[0][0] >= seconds:
                before = [values[index] for time, values, _ in ring if now - time >= seconds]
                return value - before[-1]
        return None

    def outcomes_before(self, seconds: float, now: float) -> dict[str, int]:
        """The outcomes as they were so many seconds ago, or the first known after that."""
        for time, _, outcomes in self._rings[0][1]:
            if now - time <= seconds:
                return outcomes
        return {}

    def page(self, seconds: float, now: float) -> History:
        """The finest readings that go back so far, or to the beginning."""
        step, ring = next(
            (
                (step, ring)
                for step, ring in self._rings
                if len(ring) < (ring.maxlen or 0) or now - ring[0][0] >= seconds
            ),
            self._rings[-1],
        )
        rows = [row for row in ring if now - row[0] <= seconds]
        names = sorted({name for _, _, outcomes in rows for name in outcomes})
        return History(
            step=step,
            oldest=self._oldest(),
            times=[round(time, 3) for time, _, _ in rows],
            columns={
                name: [values[index] for _, values, _ in rows] for index, name in enumerate(COLUMNS)
            },
            outcomes={name: [outcomes.get(name, 0) for _, _, outcomes in rows] for name in names},
        )

    def _oldest(self) -> float | None:
        firsts = [ring[0][0] for _, ring in self._rings if ring]
        return round(min(firsts), 3) if firsts else None
