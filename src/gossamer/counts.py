"""What the numbers by outcome count: every line of the fetch log, of pages and of what is no page.

A line is a visit, or a URL that left the queue without one (robots rules forbid it, a limit was reached, …). A visit is to a
page, to a robots file, to a sitemap, or a probe (it asks for a name that cannot exist). So of each outcome

    number = visits to pages + robots files + sitemaps + probes + not visited

and the visits to pages with `fetched`, `truncated` and `duplicate` are the pages.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

from gossamer.words import count, counted

BESIDE: Final = {"robots_files": "robots file", "sitemaps": "sitemap", "probes": "probe"}
"""Visits that are to no page, by field, and what one is called."""

APART: Final = (*BESIDE, "unvisited")
"""Fields with the numbers by outcome that are no visits to pages."""

PAGES: Final = frozenset({"fetched", "truncated", "duplicate"})
"""Outcomes of visits that brought a page."""

_FIELDS: Final = {"robots": "robots_files", "sitemap": "sitemaps"}


class Counted(Protocol):
    """Progress, a report, a status: whatever has the numbers by outcome."""

    @property
    def outcomes(self) -> Mapping[str, int]: ...
    @property
    def robots_files(self) -> Mapping[str, int]: ...
    @property
    def sitemaps(self) -> Mapping[str, int]: ...
    @property
    def probes(self) -> Mapping[str, int]: ...
    @property
    def unvisited(self) -> Mapping[str, int]: ...


class _Line(Protocol):
    """A line of the fetch log."""

    @property
    def outcome(self) -> str: ...
    @property
    def purpose(self) -> str | None: ...
    @property
    def soft_404(self) -> str | None: ...
    @property
    def visited(self) -> bool: ...


@dataclass(slots=True)
class LineCounts:
    """The numbers by outcome, counted line by line: those of the crawl itself."""

    outcomes: Counter[str] = field(default_factory=Counter)
    robots_files: Counter[str] = field(default_factory=Counter)
    sitemaps: Counter[str] = field(default_factory=Counter)
    probes: Counter[str] = field(default_factory=Counter)
    unvisited: Counter[str] = field(default_factory=Counter)

    def add(self, line: _Line, outcome: str | None = None) -> None:
        """`outcome`: what it counts as, if not what the line says."""
        outcome = outcome or line.outcome
        self.outcomes[outcome] += 1
        if not line.visited:
            self.unvisited[outcome] += 1
        elif line.soft_404 == "probe":
            self.probes[outcome] += 1
        elif line.purpose in _FIELDS:
            of: Counter[str] = getattr(self, _FIELDS[line.purpose])
            of[outcome] += 1

    def apart(self) -> dict[str, dict[str, int]]:
        """By field, as JSON has it; the most frequent first."""
        return {name: dict(getattr(self, name).most_common()) for name in APART}


def visits_to_pages(of: Counted, outcome: str) -> int:
    others = (of.robots_files, of.sitemaps, of.probes, of.unvisited)
    return of.outcomes.get(outcome, 0) - sum(numbers.get(outcome, 0) for numbers in others)


def visits(of: Counted) -> int:
    return sum(of.outcomes.values()) - sum(of.unvisited.values())


def beside_pages(of: Counted, outcome: str) -> str:
    """How many of an outcome's number are no visits to pages, in words; empty: none, or all left the queue unvisited."""
    numbers = {name: getattr(of, name).get(outcome, 0) for name in BESIDE}
    parts = [counted(number, BESIDE[name]) for name, number in numbers.items() if number]
    unvisited = of.unvisited.get(outcome, 0)
    if 0 < unvisited < of.outcomes.get(outcome, 0):
        parts.append(f"{count(unvisited)} not visited")
    return ", ".join(parts)


def visits_in_words(of: Counted) -> str:
    """All visits by what they were to: how the numbers by outcome come to that of the pages."""
    others = {name: sum(getattr(of, name).values()) for name in BESIDE}
    all_visits, unvisited = visits(of), sum(of.unvisited.values())
    parts = [f"{count(all_visits - sum(others.values()))} to pages"]
    parts += [
        f"{count(number)} to {BESIDE[name]}s" if name != "probes" else counted(number, BESIDE[name])
        for name, number in others.items()
        if number
    ]
    text = f"{counted(all_visits, 'visit')}: {', '.join(parts)}"
    return f"{text}; {counted(unvisited, 'URL')} left the queue without one" if unvisited else text
