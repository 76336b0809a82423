"""Counts over time, in equal steps whose width doubles when there would be too many.

Bound: `MOST` steps, whatever the crawl's age. Lines may come in any order: the logs of a cluster's nodes are read
one after the other.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import Final

MOST: Final = 1440


@dataclass(slots=True)
class Step:
    pages: int = 0
    bytes: int = 0
    visits: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)

    def take(self, other: "Step") -> None:
        self.pages += other.pages
        self.bytes += other.bytes
        self.visits += other.visits
        self.outcomes.update(other.outcomes)


class Timeline:
    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._steps: dict[int, Step] = {}
        self._low: int | None = None
        self._high = 0
        self.width = 1
        """Seconds of a step."""

    def at(self, moment: float) -> Step:
        """The step that a time is in."""
        number = int(moment) // self.width
        step = self._steps.get(number)
        if step is None:
            self._low = number if self._low is None else min(self._low, number)
            self._high = max(self._high, number)
            step = self._steps[number] = Step()
            while self._high - self._low >= self._most:
                self._double()
            step = self._steps[int(moment) // self.width]
        return step

    def _double(self) -> None:
        old, self._steps = self._steps, {}
        self.width *= 2
        for number, step in old.items():
            self._steps.setdefault(number // 2, Step()).take(step)
        self._low, self._high = min(self._steps), max(self._steps)

    def steps(self, most: int | None = None) -> tuple[int, list[tuple[float, Step]]]:
        """The width, and the beginning of each step with its counts, without gaps; at most so many."""
        if self._low is None:
            return self.width, []
        factor = 1
        while most is not None and (self._high // factor - self._low // factor) >= most:
            factor *= 2
        width = self.width * factor
        found = {number: Step() for number in range(self._low // factor, self._high // factor + 1)}
        for number, step in self._steps.items():
            found[number // factor].take(step)
        return width, [(float(number * width), step) for number, step in found.items()]
