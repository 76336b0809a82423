"""`gossamer audit`: politeness and integrity of a crawl, proven from its files."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from gossamer.audit import KINDS, Report, audit_crawl
from gossamer.cli.json_output import print_json
from gossamer.cli.loudness import Verbose, loudness
from gossamer.cli.reading import told
from gossamer.counts import beside_pages, visits_in_words
from gossamer.policy.hosts.outcomes import meaning
from gossamer.policy.rules.left_out import left_out
from gossamer.words import count, counted, plain, size

SHOWN = 10


def audit(
    directory: Annotated[Path, typer.Argument(help="The crawl.", metavar="DIR")],
    *,
    most: Annotated[int, typer.Option(help="Violations of a kind that are shown.")] = SHOWN,
    quiet: Annotated[
        bool,
        typer.Option(
            "--quiet", "-q", help="Say nothing but violations (and the object of --json)."
        ),
    ] = False,
    verbose: Verbose = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object at the end.")] = False,
) -> None:
    """Prove from its files that a crawl was polite and that log, records and index agree; exit code 1 if not."""
    loud = loudness(quiet=quiet, verbose=verbose)
    with told("reading log and WARC files", "lines", loud) as tell:
        report = audit_crawl(directory, lambda at: tell(at.done, at.total, at.lines))
    if json:
        print_json(as_json(report, most))
    else:
        if not quiet:
            _show_counts(report)
        _show_violations(report, most)
        if not quiet:
            _show_end(report)
    if not report.clean:
        raise typer.Exit(1)


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


def _show_counts(report: Report) -> None:
    print(f"{counted(report.lines, 'line')} of the log, {counted(report.pages, 'page')}")
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


def _show_violations(report: Report, most: int) -> None:
    for kind, number in report.counts.items():
        print(f"{kind}: {count(number)}, {KINDS[kind]}", file=sys.stderr)
        found = [violation for violation in report.violations if violation.kind == kind][:most]
        for violation in found:
            print(f"  {plain(violation.where)}: {plain(violation.text, 600)}", file=sys.stderr)
        if number > len(found):
            print(f"  … and {count(number - len(found))} more", file=sys.stderr)


def _show_end(report: Report) -> None:
    _show_outcomes(report)
    _show_missing(report)
    violations = f"{count(report.counts.total())} violations" if report.counts else "no violations"
    missing = sum(report.not_fetched.values())
    not_fetched = f", {counted(missing, 'URL')} not fetched" if missing else ""
    print(f"{violations}; {counted(report.pages, 'page')}{not_fetched}")


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
        print(f"  {count(number):>12}  {plain(name)}: {left_out(name).meaning}")
