"""Counts by host, in a table that keeps the hosts with most lines of the log.

Bound: `MOST` hosts of some hundred bytes. When it is full, the half with fewest lines goes; a host that comes again
begins anew, so its counts are of the later part. `cut` says that this happened.
"""

from dataclasses import dataclass, field
from typing import Final

from gossamer.counts import PAGES
from gossamer.policy.hosts.outcomes import Group

MOST: Final = 50_000
_ANSWERS: Final = PAGES | {"not_modified", "gone", "refused"}
"""Outcomes of a visit to a robots file after which the rules are known (RFC 9309: none, if there is no file)."""


@dataclass(slots=True)
class HostTally:
    """One host. `visits`: those that were made; `lines`: also URLs that left the queue without one."""

    host: str
    lines: int = 0
    visits: int = 0
    pages: int = 0
    bytes: int = 0
    failed: int = 0
    refused: int = 0
    seconds: float = 0.0
    longest: float = 0.0
    last: float = 0.0
    ip: str | None = None
    robots: str | None = None
    """How the last visit to its robots file ended; None: there was none."""
    outcomes: dict[str, int] = field(default_factory=dict)

    @property
    def has_rules(self) -> bool:
        """Whether the last visit to its robots file said what may be visited. One that moved says it elsewhere."""
        return self.robots in _ANSWERS

    @property
    def mean(self) -> float:
        """Seconds that a visit took."""
        return self.seconds / self.visits if self.visits else 0.0


class HostTable:
    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._rows: dict[str, HostTally] = {}
        self.cut = False
        """Hosts with few lines were left out."""

    def __len__(self) -> int:
        return len(self._rows)

    def of(self, host: str) -> HostTally:
        row = self._rows.get(host)
        if row is None:
            if len(self._rows) >= self._most:
                self._halve()
            row = self._rows[host] = HostTally(host)
        return row

    def get(self, host: str) -> HostTally | None:
        return self._rows.get(host)

    def all(self) -> list[HostTally]:
        return list(self._rows.values())

    def _halve(self) -> None:
        kept = sorted(self._rows.values(), key=lambda row: row.lines, reverse=True)
        self._rows = {row.host: row for row in kept[: self._most // 2]}
        self.cut = True

    def largest(self, most: int) -> list[HostTally]:
        """Those with most pages."""
        rows = [row for row in self._rows.values() if row.pages]
        return sorted(rows, key=lambda row: (-row.pages, -row.bytes, row.host))[:most]

    def busiest(self, most: int) -> list[HostTally]:
        """Those with most lines of the log."""
        return sorted(self._rows.values(), key=lambda row: (-row.lines, row.host))[:most]

    def slowest(self, most: int) -> list[HostTally]:
        """Those whose visits took longest on average."""
        rows = [row for row in self._rows.values() if row.visits]
        return sorted(rows, key=lambda row: (-row.mean, row.host))[:most]

    def worst(self, most: int) -> list[HostTally]:
        """Those with most visits that failed; then those that most was refused of."""
        rows = [row for row in self._rows.values() if row.failed]
        return sorted(rows, key=lambda row: (-row.failed, -row.refused, row.host))[:most]


def count(row: HostTally, group: Group) -> None:
    """A line of the log more, by how it went."""
    row.lines += 1
    row.failed += group is Group.FAILED
    row.refused += group is Group.REFUSED
