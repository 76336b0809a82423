"""An audit from its beginning to its end: all parts, wired together."""

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from gossamer.audit.clock import Stepped, steps
from gossamer.audit.integrity import WHOLE, Once, Originals, number
from gossamer.audit.join import join
from gossamer.audit.lines import LogPart, Visit, read_lines
from gossamer.audit.missing import Missing
from gossamer.audit.politeness import Politeness
from gossamer.audit.records import Records
from gossamer.audit.report import Report
from gossamer.audit.scope import ScopeCheck
from gossamer.counts import PAGES
from gossamer.errors import NoCrawlError, SettingsError
from gossamer.node.native_settings import to_native
from gossamer.settings import CrawlSettings, load_saved

EVERY = 2_000


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """How far an audit is: bytes of the WARC files read, of all; lines of the log."""

    done: int
    total: int
    lines: int


def _roots(out: Path) -> list[Path]:
    nodes = out / "nodes"
    places = [out, *(sorted(nodes.iterdir()) if nodes.is_dir() else [])]
    return [place for place in places if (place / "log").is_dir() or (place / "warc").is_dir()]


def audit_crawl(out: Path, progress: Callable[[Checkpoint], None] | None = None) -> Report:
    """Audits the crawl in `out`; a directory without one is a `UsageError`."""
    roots = _roots(out)
    if not roots:
        raise NoCrawlError.at(out, "no log and no WARC files")
    report = Report()
    settings = _settings(out, roots, report)
    # The log first: what it says now has its records in the files that are listed after it.
    parts = {root: LogPart.all_of(root) for root in roots}
    records = {root: Records(root, report) for root in roots}
    total = sum(of_root.total for of_root in records.values())
    run = _Run(settings, report)
    streams = [
        steps(join(read_lines(parts[root], out, report), records[root], report)) for root in roots
    ]
    # A host may have moved from one node to another: their logs are taken together by time.
    merged = streams[0] if len(streams) == 1 else heapq.merge(*streams, key=_order)
    for count, step in enumerate(merged, 1):
        run.take(step)
        if progress is not None and count % EVERY == 0:
            done = sum(of_root.position for of_root in records.values())
            progress(Checkpoint(done, total, count))
    run.finish(_again(parts, out))
    return report


def _order(step: Stepped) -> int:
    return step.latest


def _settings(out: Path, roots: list[Path], report: Report) -> CrawlSettings | None:
    places = [place / "crawl.toml" for place in (out, *roots)]
    file = next((place for place in places if place.exists()), places[0])
    try:
        return load_saved(file)
    except SettingsError as error:
        report.violation("settings", "crawl.toml", str(error))
        report.note("politeness and scope are not checked: the settings are not known")
        return None


def _again(parts: dict[Path, list[LogPart]], out: Path) -> Iterator[tuple[Path, Visit]]:
    """Each visit and the node that made it, read a second time; damage was told the first time."""
    silent = Report()
    for root, of_root in parts.items():
        for visit in read_lines(of_root, out, silent):
            if visit.real:
                yield root, visit


class _Run:
    def __init__(self, settings: CrawlSettings | None, report: Report) -> None:
        self._report = report
        self._politeness = Politeness(settings, report) if settings else None
        self._scope = ScopeCheck(to_native(settings), report) if settings else None
        # Then a second visit is what was wanted.
        self._refreshes = settings is not None and (
            settings.doors.refresh is not None or any(rule.refresh for rule in settings.rule)
        )
        self._pages = Once()
        self._originals = Originals()
        self._missing = Missing()
        self._robots_urls: set[str] = set()

    def take(self, step: Stepped) -> None:
        visit, facts, report = step.visit, step.facts, self._report
        if step.set_back is not None and self._politeness is not None:
            report.note(
                f"{visit.where}: the clock was set back by {step.set_back / 1e6:.1f} s; "
                "gaps across this line are not checked"
            )
            self._politeness.clock_set_back()
        if facts is not None:
            self._originals.add(facts)
        line = visit.line
        politeness, scope = self._politeness, self._scope
        is_robots = politeness is not None and politeness.robots.is_robots_visit(visit)
        report.counts_of_lines.add(line)
        report.visits += line.visited
        # Without a visit it is a URL of an alias, whose page was not asked for.
        report.pages += line.visited and line.of_page and line.outcome in PAGES
        self._missing.add(line)
        if is_robots:
            self._robots_urls.add(line.url)
        elif visit.real and line.outcome in WHOLE:
            self._pages.add(line.url)
        if not visit.real:
            if scope is not None and line.from_url is None and not is_robots:
                scope.seed(line.url)
            return
        if scope is not None and not is_robots:
            scope.add(visit)
        if politeness is not None:
            politeness.judge(visit, facts)

    def finish(self, again: Iterator[tuple[Path, Visit]]) -> None:
        if self._scope is not None:
            self._scope.flush()
        self._originals.report(self._report)
        self._missing.report(self._report)
        repeated = set() if self._refreshes else self._pages.repeated()
        if not repeated:
            return
        # Only now, and only then, is the log read a second time: to say which pages these are.
        first: dict[str, tuple[Path, str]] = {}
        elsewhere = 0
        for root, visit in again:
            line, where = visit.line, visit.where
            if line.outcome not in WHOLE or line.url in self._robots_urls:
                continue
            if number(line.url) not in repeated:
                continue
            node, place = first.setdefault(line.url, (root, where))
            if node != root:
                elsewhere += 1
            elif place != where:
                self._report.violation("fetched_twice", where, f"{line.url}, first: {place}")
        if elsewhere:
            self._report.note(
                f"{elsewhere} pages were fetched again by another node: when a node is lost, what "
                "it fetched since its last snapshot is fetched again"
            )
