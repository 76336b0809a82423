"""What a crawl says at its end."""

import sys
import time
from pathlib import Path

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from gossamer.cli.text import count, plain, size, span
from gossamer.errors import UsageError
from gossamer.library.seeds import Refused
from gossamer.model.progress import Activity, Progress
from gossamer.model.waits import in_words
from gossamer.policy.hosts.outcomes import REACTIONS, USUAL
from gossamer.policy.rules.left_out import REASONS

SHOWN_REFUSED = 10


def show_refused(refused: list[Refused], *, total: int) -> None:
    """Names the seeds that were not taken; with none left there is nothing to crawl."""
    for seed in refused[:SHOWN_REFUSED]:
        print(f"seed refused: {plain(seed.url)}: {seed.reason}", file=sys.stderr)
    if len(refused) > SHOWN_REFUSED:
        print(f"… and {len(refused) - SHOWN_REFUSED} more seeds refused", file=sys.stderr)
    if total and len(refused) == total:
        raise UsageError("no seed could be taken")


def as_json(progress: Progress, out: Path) -> dict[str, object]:
    """The object that `--json` prints."""
    return {
        "pages": progress.pages,
        "pages_dropped": progress.pages_dropped,
        "bytes": progress.bytes,
        "urls_seen": progress.urls_seen,
        "urls_queued": progress.urls_queued,
        "outcomes": progress.outcomes,
        "links_left_out": progress.links_left_out,
        "robots_said": progress.robots_said,
        "soft_404s": progress.soft_404s,
        "aliases": progress.hosts_aliases,
        "urls_set_aside": progress.urls_set_aside,
        "waits": msgspec.to_builtins(progress.waits),
        "seconds": round(progress.seconds, 3),
        "pages_per_second": round(progress.pages / progress.seconds, 1) if progress.seconds else 0,
        "activity": progress.activity.value,
        "out": str(out),
        **({"doors": msgspec.to_builtins(progress.doors)} if progress.doors else {}),
    }


def had_nothing(progress: Progress) -> bool:
    """Whether a crawl has come to its end without a single page: the job itself failed."""
    pages = progress.pages + progress.pages_dropped + progress.outcomes.get("not_modified", 0)
    return progress.activity is Activity.FINISHED and progress.urls_seen > 0 and not pages


def _show_remedies(console: Console, progress: Progress, *, nothing: bool) -> None:
    """What can be done about that which was not fetched; `nothing`: about everything that was met."""
    met = sorted(progress.outcomes, key=lambda name: -progress.outcomes[name])
    remedies = {name: REACTIONS[name].remedy for name in met if nothing or name not in USUAL}
    # Has a line of its own while there are such URLs.
    remedies.pop("set_aside", None)
    if nothing:
        console.print(Text("No page could be had.", style="bold"))
    elif any(remedies.values()):
        console.print(Text("What can be done about that which was not fetched:"))
    for name, remedy in remedies.items():
        if remedy:
            _print_whole(console, f"{name}: {remedy}")


def _print_whole(console: Console, text: str) -> None:
    """Not broken into lines: a command is there to be copied."""
    console.print(Text(text), soft_wrap=True)


def show_summary(
    console: Console,
    progress: Progress,
    out: Path,
    *,
    interrupted: bool,
    unsaved: bool = False,
    go_on: str | None = None,
    files: Path | None = None,
) -> None:
    """What was done, and `go_on`: the command that goes on where it stopped. `files`: where they are, if not in `out`."""
    files = files or out
    go_on = go_on or f"gossamer crawl --resume --out {out}"
    rate = progress.pages / progress.seconds if progress.seconds else 0.0
    console.print(
        Text.assemble(
            (f"{count(progress.pages)} pages", "bold"),
            f", {size(progress.bytes)} in {span(progress.seconds)} ({rate:,.0f} pages/s); "
            f"{count(progress.urls_seen)} URLs known, {count(progress.urls_queued)} still queued.",
        )
    )
    table = Table(box=None, padding=(0, 2), show_header=False)
    for name, number in sorted(progress.outcomes.items(), key=lambda item: -item[1]):
        table.add_row(name, count(number), Text(REACTIONS[name].meaning, style="dim"))
    console.print(table)
    _show_remedies(console, progress, nothing=had_nothing(progress) and not interrupted)
    _show_links(console, progress)
    if progress.hosts_aliases:
        _print_whole(
            console,
            f"{count(progress.hosts_aliases)} hosts are other names of sites crawled already; "
            f"see them, or undo one, with: gossamer aliases {out}",
        )
    if progress.urls_set_aside:
        _print_whole(
            console,
            f"{count(progress.urls_set_aside)} URLs are set aside: others like them brought nothing new; "
            f"see why, or take them up, with: gossamer patterns {out}",
        )
    for door, report in progress.doors.items():
        if report.failures:
            console.print(
                Text(
                    f"The policy of {door} failed {count(report.failures)} times; "
                    f"{count(report.defaults)} of its rows were judged without it. "
                    f"Last: {plain(report.last_failure)}",
                    style="yellow",
                )
            )
    for text in in_words(progress.waits, time.time()):
        console.print(Text(plain(text)), soft_wrap=True)
    console.print(Text(f"WARC files: {files / 'warc'}   fetch log: {files / 'log'}"))
    hint = ""
    if unsaved:
        hint = (
            "Stopped with no room left on the disk: the last pages are not stored and will be "
            f"fetched again. Make room, then go on with: {go_on}"
        )
    elif interrupted:
        hint = f"Stopped; everything is saved. Go on with: {go_on}"
    elif progress.activity is Activity.LIMIT_REACHED or progress.urls_queued:
        hint = f"Stopped at a limit. Go on with a higher one: {go_on} --max-pages N"
    if hint:
        _print_whole(console, hint)


def _show_links(console: Console, progress: Progress) -> None:
    """Which links were not followed, and what would change that."""
    said = [f"{count(number)} say {name}" for name, number in progress.robots_said.items()]
    if said:
        console.print(Text(f"Of the pages {' and '.join(said)} to robots."))
    if progress.soft_404s:
        text = f"{count(progress.soft_404s)} of the visits brought a soft 404: what their host answers to a missing name."
        console.print(Text(text))
    if not progress.links_left_out:
        return
    console.print(Text("Links that were not followed, counted on each page:"))
    table = Table(box=None, padding=(0, 2), show_header=False)
    for name, number in sorted(progress.links_left_out.items(), key=lambda item: -item[1]):
        reason = REASONS[name]
        change = f"to change: {reason.change}" if reason.change else ""
        table.add_row(name, count(number), Text(reason.meaning, style="dim"), Text(change))
    console.print(table)
