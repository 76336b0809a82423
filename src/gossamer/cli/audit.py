"""`gossamer audit`: politeness and integrity of a crawl, proven from its files."""

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from gossamer.audit import KINDS, Checkpoint, Report, audit_crawl
from gossamer.counts import beside_pages, visits_in_words
from gossamer.policy.hosts.outcomes import meaning
from gossamer.policy.rules.left_out import REASONS
from gossamer.words import count, counted, plain, size

SHOWN = 10


def audit(
    directory: Annotated[Path, typer.Argument(help="The crawl.", metavar="DIR")],
    *,
    most: Annotated[int, typer.Option(help="Violations of a kind that are shown.")] = SHOWN,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object at the end.")] = False,
) -> None:
    """Prove from its files that a crawl was polite and that log, records and index agree; exit code 1 if not."""
    with _bar() as show:
        report = audit_crawl(directory, show)
    if json:
        print(msgspec.json.encode(as_json(report, most)).decode())
    else:
        _show(report, most)
    if not report.clean:
        raise typer.Exit(1)


class _Bar:
    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress
        self._task = progress.add_task("reading", total=None) if progress else None

    def __call__(self, at: Checkpoint) -> None:
        if self._progress is not None and self._task is not None:
            text = f"{count(at.lines)} lines"
            self._progress.update(self._task, total=at.total, completed=at.done, description=text)


@contextlib.contextmanager
def _bar() -> Iterator[_Bar]:
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _Bar(None)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        yield _Bar(progress)


def as_json(report: Report, most: int) -> dict[str, object]:
    """The object that `--json` prints."""
    shown: dict[str, int] = {}
    violations = []
    for violation in report.violations:
        shown[violation.kind] = shown.get(violation.kind, 0) + 1
        if shown[violation.kind] <= most:
            violations.append(violation._asdict())
    return {
        "clean": report.clean,
        "lines": report.lines,
        "visits": report.visits,
        "pages": report.pages,
        "outcomes": dict(report.counts_of_lines.outcomes.most_common()),
        **report.counts_of_lines.apart(),
        "hosts": report.hosts,
        "addresses": report.addresses,
        "gaps_checked": report.gaps,
        "records": report.records,
        "bytes": report.bytes,
        "not_fetched": report.not_fetched,
        "links_left_out": report.links_left_out,
        "counts": dict(report.counts),
        "violations": violations,
        "notes": report.notes,
    }


def _show(report: Report, most: int) -> None:
    print(f"{count(report.lines)} lines of the log, {counted(report.pages, 'page')}")
    print(visits_in_words(report.counts_of_lines))
    print(f"{count(report.records)} WARC records, {size(report.bytes)} of bodies hashed again")
    print(
        f"{count(report.gaps)} gaps between visits checked, to {counted(report.hosts, 'host')} "
        f"that were connected to, on {count(report.addresses)} addresses"
    )
    if report.tightest is not None:
        spare, where = report.tightest
        print(f"tightest gap of a host: {max(spare, 0.0) * 1000:.1f} ms to spare ({plain(where)})")
    for note in report.notes:
        print(f"note: {plain(note, 400)}")
    for kind, number in report.counts.items():
        print(f"{kind}: {count(number)}, {KINDS[kind]}", file=sys.stderr)
        told = [violation for violation in report.violations if violation.kind == kind][:most]
        for violation in told:
            print(f"  {plain(violation.where)}: {plain(violation.text, 600)}", file=sys.stderr)
        if number > len(told):
            print(f"  … and {count(number - len(told))} more", file=sys.stderr)
    _show_outcomes(report)
    _show_missing(report)
    violations = f"{count(report.counts.total())} violations" if report.counts else "no violations"
    missing = sum(report.not_fetched.values())
    not_fetched = f", {count(missing)} URLs not fetched" if missing else ""
    print(f"{violations}; {count(report.pages)} pages{not_fetched}")


def _show_outcomes(report: Report) -> None:
    """As the crawl itself counts them: every line."""
    counts = report.counts_of_lines
    if counts.outcomes:
        print("outcomes, of all lines of the log:")
    for name, number in counts.outcomes.most_common():
        others = beside_pages(counts, name)
        print(f"  {count(number):>12}  {name}{f' ({others})' if others else ''}")


def _show_missing(report: Report) -> None:
    if report.not_fetched:
        print("not fetched, each URL once, by its last outcome:")
    for name, number in report.not_fetched.items():
        print(f"  {count(number):>12}  {name}: {meaning(name)}")
    if report.links_left_out:
        print("links not followed, counted on each page:")
    for name, number in report.links_left_out.items():
        reason = REASONS.get(name)
        print(f"  {count(number):>12}  {plain(name)}: {reason.meaning if reason else 'not known'}")
