"""`gossamer audit`: politeness and integrity of a crawl, proven from its files."""

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from gossamer.audit import KINDS, Checkpoint, Report, audit_crawl
from gossamer.cli.console import console
from gossamer.cli.json_output import print_json
from gossamer.policy.hosts.outcomes import meaning
from gossamer.policy.rules.left_out import REASONS
from gossamer.words import count, plain, size

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
        print_json(as_json(report, most))
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
    shown = console(stderr=True)
    if not shown.is_terminal:
        yield _Bar(None)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=shown, transient=True) as progress:
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
    print(
        f"{count(report.lines)} lines of the log: {count(report.visits)} visits to "
        f"{count(report.hosts)} hosts on {count(report.addresses)} addresses, "
        f"{count(report.pages)} pages"
    )
    print(f"{count(report.records)} WARC records, {size(report.bytes)} of bodies hashed again")
    print(f"{count(report.gaps)} gaps between visits checked")
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
    _show_missing(report)
    violations = f"{count(report.counts.total())} violations" if report.counts else "no violations"
    missing = sum(report.not_fetched.values())
    not_fetched = f", {count(missing)} URLs not fetched" if missing else ""
    print(f"{violations}; {count(report.pages)} pages{not_fetched}")


def _show_missing(report: Report) -> None:
    if report.not_fetched:
        print("not fetched, by the last outcome of each URL:")
    for name, number in report.not_fetched.items():
        print(f"  {count(number):>12}  {name}: {meaning(name)}")
    if report.links_left_out:
        print("links not followed, counted on each page:")
    for name, number in report.links_left_out.items():
        reason = REASONS.get(name)
        print(f"  {count(number):>12}  {plain(name)}: {reason.meaning if reason else 'not known'}")
