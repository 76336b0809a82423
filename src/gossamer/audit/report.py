"""What an audit found: counts, violations by kind (all counted, the first ones told), notes."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from gossamer.counts import LineCounts

KINDS: Final[dict[str, str]] = {
    "settings": "crawl.toml cannot be used",
    "log_damaged": "a line of the fetch log is not what the crawler wrote",
    "early_host": "a visit began before the gap of its host was over",
    "early_address": "a visit began before the gap of its address was over",
    "overlap_host": "more visits to a host at a time than politeness.per_host",
    "overlap_address": "more visits to an address at a time than politeness.per_host",
    "retry_after": "a visit began before the time that the host asked for with 429 or 503",
    "robots_first": "a URL was visited before the robots rules of its host were known",
    "robots_forbidden": "a URL was visited that the robots rules in force forbid",
    "robots_stale": "a URL was visited by robots rules older than politeness.robots_refresh",
    "out_of_scope": "a URL was visited that the scope keeps out",
    "fetched_twice": "a page was fetched more than once",
    "record_missing": "a visit has no WARC record of its own",
    "record_foreign": "a WARC record belongs to no visit in the log",
    "record_differs": "a WARC record and its line in the log do not agree",
    "digest": "the body in a WARC record is not the one that was hashed",
    "revisit": "a revisit record refers to a page that is not there",
    "warc_damaged": "a WARC file cannot be read to its end",
}
"""Every kind of violation, and what it means."""

TOLD = 100
"""Violations of a kind that are told one by one; the rest is counted."""


class Violation(NamedTuple):
    """One violation; `where` is the place in the files."""

    kind: str
    where: str
    text: str


@dataclass(slots=True)
class Report:
    """What was checked and what was found."""

    lines: int = 0
    counts_of_lines: LineCounts = field(default_factory=LineCounts)
    visits: int = 0
    """Also those that reached no server."""
    pages: int = 0
    hosts: int = 0
    addresses: int = 0
    records: int = 0
    bytes: int = 0
    gaps: int = 0
    """Gaps between two visits that were checked, of hosts and of addresses."""
    tightest: tuple[float, str] | None = None
    """The least time that a host's gap was longer than it had to be, in seconds, and where."""
    not_fetched: dict[str, int] = field(default_factory=dict)
    """URLs that were never fetched, by the outcome of the last try."""
    links_left_out: dict[str, int] = field(default_factory=dict)
    """Links of pages that were not followed, by reason."""
    counts: Counter[str] = field(default_factory=Counter)
    violations: list[Violation] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def violation(self, kind: str, where: str, text: str) -> None:
        if kind not in KINDS:
            raise ValueError(kind)
        self.counts[kind] += 1
        if self.counts[kind] <= TOLD:
            self.violations.append(Violation(kind, where, text))

    def note(self, text: str) -> None:
        if len(self.notes) < TOLD:
            self.notes.append(text)

    @property
    def clean(self) -> bool:
        """No violation was found. Whether everything was fetched is another question: `not_fetched`."""
        return not self.counts
