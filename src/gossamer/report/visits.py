"""What the fetch log comes to, read once from its first line to its last."""

from collections import Counter
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Final

from gossamer.audit.missing import Missing
from gossamer.counts import PAGES, LineCounts
from gossamer.library import LogLine, LogReading
from gossamer.policy.hosts.outcomes import FORMER, REACTIONS, Group, group
from gossamer.policy.rules.left_out import REASONS as LEFT_OUT
from gossamer.report.examples import Examples
from gossamer.report.hosts import HostTable, count
from gossamer.report.timeline import Timeline

EVERY: Final = 20_000
"""Lines after which it is told how far the reading is."""
KNOWN_URLS: Final = 20_000_000
"""Lines up to which the last outcome of each URL is known; nine bytes each."""
REASONS: Final = 1000
"""Reasons that are told apart."""
UNKNOWN: Final = "unknown"
"""An outcome or a reason that this version has no name for."""
LONGEST: Final = 1e8
"""Seconds; a line with more is damaged."""
LATEST: Final = 2.0**34
"""Seconds since the epoch: some five hundred years."""
DEEPEST: Final = 100
OTHERS: Final = 200_000

_GROUPS: Final = {name: group(name) for name in REACTIONS} | dict.fromkeys(FORMER, Group.REFUSED)


class NodeTally:
    """What one node of a cluster did."""

    def __init__(self) -> None:
        self.pages = 0
        self.bytes = 0
        self.visits = 0


class Visits:
    """Counts of all lines that were taken."""

    def __init__(self) -> None:
        self.lines = 0
        self.damaged = 0
        self.visits = 0
        self.pages = 0
        self.pages_dropped = 0
        self.bytes = 0
        self.counts = LineCounts()
        self.outcomes = self.counts.outcomes
        self.statuses: Counter[int] = Counter()
        self.reasons: Counter[tuple[str, str]] = Counter()
        self.reasons_cut = False
        self.depths: Counter[int] = Counter()
        self.left_out: Counter[str] = Counter()
        self.robots_said: Counter[str] = Counter()
        self.no_robots: Counter[str] = Counter()
        """URLs that left the queue because the robots file could not be had, by how the last visit to it ended."""
        self.others: set[tuple[str, str]] = set()
        """URL and time of answers that are no pages: of robots files and sitemaps, up to `OTHERS`."""
        self.knows_purposes = False
        """Whether the log says what visits were to; those of earlier versions do not."""
        self.soft_404s = 0
        self.duplicate_bytes = 0
        self.hosts = HostTable()
        self.nodes: dict[str, NodeTally] = {}
        self.timeline = Timeline()
        self.began: float | None = None
        self.ended: float | None = None
        self.examples = Examples()
        self._missing: Missing | None = Missing()

    @property
    def knows_urls(self) -> bool:
        """Whether the last outcome of each URL is known."""
        return self._missing is not None

    def not_fetched(self) -> dict[str, int]:
        """URLs without a page by their last outcome; of a very long log, lines instead of URLs."""
        if self._missing is not None:
            return self._missing.not_fetched()
        return {
            name: many
            for name, many in self.outcomes.most_common()
            if _GROUPS.get(name) is not Group.DONE
        }

    def take(self, line: LogLine, node: str | None) -> None:
        # Names of another version, or of somebody who changed the file, are one: counts stay bounded.
        outcome = line.outcome if line.outcome in _GROUPS else UNKNOWN
        begun = datetime.fromisoformat(line.time).timestamp()
        if not 0 <= begun < LATEST:
            raise ValueError("no visit is of that time")
        seconds = (line.ms or 0.0) / 1000
        if not 0 <= seconds < LONGEST:
            raise ValueError("no visit takes so long")
        self._note_time(begun, begun + seconds)
        self.lines += 1
        self.counts.add(line, outcome)
        self.knows_purposes = self.knows_purposes or line.purpose is not None or not line.visited
        host, step = self.hosts.of(line.host), self.timeline.at(begun)
        count(host, _GROUPS.get(outcome, Group.REFUSED))
        host.outcomes[outcome] = host.outcomes.get(outcome, 0) + 1
        step.outcomes[outcome] += 1
        self.examples.add(line, outcome)
        if line.reason is not None:
            self._note_reason(outcome, line.reason)
        for name, many in line.left_out.items():
            self.left_out[name if name in LEFT_OUT else UNKNOWN] += many
        if line.status == 200 and not line.of_page and len(self.others) < OTHERS:
            self.others.add((line.url, line.time))
        if line.purpose == "robots":
            host.robots = outcome
        if outcome == "robots_unreachable":
            self.no_robots[host.robots or UNKNOWN] += 1
        is_page = line.of_page and line.visited and outcome in PAGES
        if line.of_page and line.visited:
            self._take_page(line)
        host.pages += is_page
        step.pages += is_page
        if self._missing is not None and outcome in _GROUPS:
            self._missing.add(line)
            if self.lines > KNOWN_URLS:
                self._missing = None
        if line.visited:
            self.visits += 1
            self.bytes += line.bytes
            step.visits += 1
            step.bytes += line.bytes
            host.visits += 1
            host.bytes += line.bytes
            host.seconds += seconds
            host.longest = max(host.longest, seconds)
            host.last = max(host.last, begun + seconds)
            host.ip = line.ip or host.ip
            if line.status is not None and 0 <= line.status < 1000:
                self.statuses[line.status] += 1
        if node is not None:
            of_node = self.nodes.setdefault(node, NodeTally())
            of_node.visits += line.visited
            of_node.bytes += line.bytes
            of_node.pages += is_page

    def _take_page(self, line: LogLine) -> None:
        if line.outcome in PAGES:
            self.pages += 1
            self.depths[max(0, min(line.depth, DEEPEST))] += 1
        self.pages_dropped += line.outcome == "dropped"
        if line.outcome == "duplicate":
            self.duplicate_bytes += line.bytes
        if line.robots is not None:
            self.robots_said.update(name for name in ("noindex", "nofollow") if name in line.robots)
        self.soft_404s += line.soft_404 == "yes"

    def _note_reason(self, outcome: str, reason: str) -> None:
        key = (outcome, reason[:300])
        if key not in self.reasons and len(self.reasons) >= REASONS:
            self.reasons_cut = True
            return
        self.reasons[key] += 1

    def _note_time(self, begun: float, ended: float) -> None:
        self.began = begun if self.began is None else min(self.began, begun)
        self.ended = ended if self.ended is None else max(self.ended, ended)


def read_visits(
    out: Path,
    tell: Callable[[int, int, int], None] | None = None,
    committed: Mapping[Path, int] | None = None,
) -> Visits:
    """Reads the log in `out`. `tell` is called now and then with bytes read, bytes in all, and lines.

    `committed`: the bytes that count of files of which not all does.
    """
    visits, reading = Visits(), LogReading(out, committed)
    for number, line in enumerate(reading, 1):
        try:
            visits.take(line, reading.node)
        except (ValueError, OverflowError):
            # No time that a clock could show.
            reading.damaged += 1
        if tell is not None and number % EVERY == 0:
            tell(reading.done, reading.total, number)
    visits.damaged = reading.damaged
    return visits
