"""What the fetch log comes to, read once from its first line to its last."""

from collections import Counter
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Final

from gossamer.audit.missing import Missing
from gossamer.library import LogLine, LogReading
from gossamer.policy.hosts.outcomes import FORMER, REACTIONS, Group, group
from gossamer.policy.rules.left_out import REASONS as LEFT_OUT
from gossamer.report.hosts import HostTable, count
from gossamer.report.timeline import Timeline

PAGES: Final = frozenset({"fetched", "truncated", "duplicate"})
EVERY: Final = 20_000
"""Lines after which it is told how far the reading is."""
KNOWN_URLS: Final = 20_000_000
"""Lines up to which the last outcome of each URL is known; nine bytes each."""
REASONS: Final = 1000
"""Reasons that are told apart."""
UNKNOWN: Final = "unknown"
"""An outcome or a reason that this version has no name for."""
LONGEST: Final = 1e8
LATEST: Final = 2.0**34
"""Seconds since the epoch: some five hundred years."""
"""Seconds; a line with more is damaged."""
DEEPEST: Final = 100
SITEMAPS: Final = 200_000

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
        self.outcomes: Counter[str] = Counter()
        self.statuses: Counter[int] = Counter()
        self.reasons: Counter[tuple[str, str]] = Counter()
        self.reasons_cut = False
        self.depths: Counter[int] = Counter()
        self.left_out: Counter[str] = Counter()
        self.robots_said: Counter[str] = Counter()
        self.robots_files: Counter[str] = Counter()
        """Visits to robots files, by outcome."""
        self.sitemaps = 0
        self.soft_404s = 0
        self.duplicate_bytes = 0
        self.unvisited_duplicates = 0
        """URLs that are other names of pages, so that they were not asked for."""
        self.hosts = HostTable()
        self.nodes: dict[str, NodeTally] = {}
        self.timeline = Timeline()
        self.began: float | None = None
        self.ended: float | None = None
        self._missing: Missing | None = Missing()
        self._sitemaps: set[str] = set()

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
        real = line.status is not None or line.ip is not None
        is_robots = _is_robots(line.url)
        begun = datetime.fromisoformat(line.time).timestamp()
        if not 0 <= begun < LATEST:
            raise ValueError("no visit is of that time")
        seconds = (line.ms or 0.0) / 1000
        if not 0 <= seconds < LONGEST:
            raise ValueError("no visit takes so long")
        self._note_time(begun, begun + seconds)
        self.lines += 1
        self.outcomes[outcome] += 1
        host, step = self.hosts.of(line.host), self.timeline.at(begun)
        count(host, _GROUPS.get(outcome, Group.REFUSED))
        host.outcomes[outcome] = host.outcomes.get(outcome, 0) + 1
        step.outcomes[outcome] += 1
        if line.reason is not None:
            self._note_reason(outcome, line.reason)
        for name, many in line.left_out.items():
            self.left_out[name if name in LEFT_OUT else UNKNOWN] += many
        if is_robots and real:
            self.robots_files[outcome] += 1
        is_page = not is_robots and line.soft_404 != "probe" and not self._is_sitemap(line)
        if is_page and real:
            self._take_page(line)
            if outcome in PAGES:
                host.pages += 1
                step.pages += 1
        elif is_page and outcome == "duplicate":
            self.unvisited_duplicates += 1
        if is_page and self._missing is not None and outcome in _GROUPS:
            self._missing.add(line)
            if self.lines > KNOWN_URLS:
                self._missing = None
        if real:
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
            of_node.visits += real
            of_node.bytes += line.bytes
            of_node.pages += is_page and real and outcome in PAGES

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

    def _is_sitemap(self, line: LogLine) -> bool:
        """A robots file names sitemaps only; of what these name, the log tells a sitemap by its suffix alone."""
        parent = line.from_url
        if parent is None:
            return False
        is_one = _is_robots(parent) or (
            parent in self._sitemaps and (not line.depth or line.url.endswith((".xml", ".xml.gz")))
        )
        if is_one and len(self._sitemaps) < SITEMAPS and line.url not in self._sitemaps:
            self._sitemaps.add(line.url)
            self.sitemaps += 1
        return is_one

    def _note_reason(self, outcome: str, reason: str) -> None:
        key = (outcome, reason[:300])
        if key not in self.reasons and len(self.reasons) >= REASONS:
            self.reasons_cut = True
            return
        self.reasons[key] += 1

    def _note_time(self, begun: float, ended: float) -> None:
        self.began = begun if self.began is None else min(self.began, begun)
        self.ended = ended if self.ended is None else max(self.ended, ended)


def _is_robots(url: str) -> bool:
    return url.endswith("/robots.txt") and url.count("/") == 3


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
