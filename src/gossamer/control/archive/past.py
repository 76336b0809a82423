"""Counters over time, from the steps in which the log was counted: they end when the crawl did."""

from collections import Counter
from typing import Final

from gossamer.control.schemas import History
from gossamer.report import Visits

COLUMNS: Final = ("pages", "bytes", "visits")
"""What the log tells; how long the queue was at any time, nobody wrote down."""


class _Readings:
    """Sums as they grow, and what was noted of them."""

    def __init__(self, names: list[str]) -> None:
        self.times: list[float] = []
        self.columns: dict[str, list[float]] = {name: [] for name in COLUMNS}
        self.outcomes: dict[str, list[int]] = {name: [] for name in names}
        self.sums: Counter[str] = Counter()
        self.met: Counter[str] = Counter()

    def note(self, moment: float) -> None:
        self.times.append(moment)
        for name, column in self.columns.items():
            column.append(float(self.sums[name]))
        for name, row in self.outcomes.items():
            row.append(self.met[name])


def history(visits: Visits, seconds: float) -> History:
    """Readings of the last `seconds` of the crawl: what a running one would have noted."""
    width, steps = visits.timeline.steps()
    readings = _Readings(list(visits.outcomes))
    first = (visits.ended or 0.0) - seconds
    if steps and steps[0][0] >= first:
        # Rates are differences: what the first step brought needs a reading before it.
        readings.note(steps[0][0])
    for begun, step in steps:
        readings.sums.update(pages=step.pages, bytes=step.bytes, visits=step.visits)
        readings.met.update(step.outcomes)
        if begun + width >= first:
            readings.note(begun + width)
    return History(
        step=float(width),
        oldest=steps[0][0] if steps else None,
        times=readings.times,
        columns=readings.columns,
        outcomes=readings.outcomes,
    )
