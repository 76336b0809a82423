"""What a crawl says at its end."""

import time
from pathlib import Path
from typing import Final

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from gossamer.counts import APART, beside_pages, visits_in_words, visits_to_pages
from gossamer.limits import reached
from gossamer.model.progress import Activity, Progress
from gossamer.model.waits import in_words
from gossamer.policy.hosts.outcomes import REACTIONS, USUAL
from gossamer.policy.rules.left_out import left_out
from gossamer.settings.model import LimitSettings
from gossamer.words import command, count, counted, counted_are, plain, size, span, with_directory

LONG = 1000
"""Characters of a path that are shown."""


def as_json(progress: Progress, out: Path, *, interrupted: bool = False) -> dict[str, object]:
    """The object that `--json` prints."""
    return {
        "pages": progress.pages,
        "pages_dropped": progress.pages_dropped,
        "bytes": progress.bytes,
        "urls_seen": progress.urls_seen,
        "urls_queued": progress.urls_queued,
        "visits": progress.visits,
        "outcomes": progress.outcomes,
        **{name: getattr(progress, name) for name in APART},
        "links_left_out": progress.links_left_out,
        "robots_said": progress.robots_said,
        "soft_404s": progress.soft_404s,
        "script_pages": progress.script_pages,
        "seeds_failed": progress.seeds_failed,
        "aliases": progress.hosts_aliases,
        "urls_set_aside": progress.urls_set_aside,
        "disk": progress.disk,
        "waits": msgspec.to_builtins(progress.waits),
        "longest_batch": round(progress.longest_batch, 4),
        "seconds": round(progress.seconds, 3),
        "pages_per_second": round(progress.pages / progress.seconds, 1) if progress.seconds else 0,
        "activity": ended_as(progress, interrupted=interrupted).value,
        "out": str(out),
        **({"doors": msgspec.to_builtins(progress.doors)} if progress.doors else {}),
    }


def ended_as(progress: Progress, *, interrupted: bool) -> Activity:
    """An interrupt ends a crawl in the middle of what it does."""
    if not interrupted or progress.activity not in {Activity.RUNNING, Activity.PAUSED}:
        return progress.activity
    return Activity.STOPPED if progress.urls_queued else Activity.FINISHED


def had_nothing(progress: Progress) -> bool:
    """Whether a crawl has come to its end without a single page: the job itself failed."""
    pages = progress.pages + progress.pages_dropped + progress.outcomes.get("not_modified", 0)
    return progress.activity is Activity.FINISHED and progress.urls_seen > 0 and not pages


def _show_remedies(console: Console, progress: Progress, out: Path, *, nothing: bool) -> None:
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
            _print_whole(console, f"{name}: {with_directory(remedy, out)}")
    if nothing:
        _print_whole(
            console,
            "--resume tries the same seeds again, also with other settings."
            + (
                ""
                if _was_answered(progress)
                else " Or give the corrected command for the same directory."
            ),
        )
    if progress.seeds_failed > len(progress.seed_failures):
        _print_whole(console, f"{counted(progress.seeds_failed, 'seed')} failed at least once.")


_NO_ANSWER: Final = frozenset({
    "url_refused", "forbidden_address", "dns_not_found", "dns_failed", "connect_failed", "tls_failed", "timed_out",
    "disconnected", "protocol_broken",
})  # fmt: skip


def _was_answered(progress: Progress) -> bool:
    """Whether a page answered, if only with an error: then there is something in the directory to keep."""
    return any(
        visits_to_pages(progress, name) for name in progress.outcomes if name not in _NO_ANSWER
    )


def _show_script_pages(console: Console, progress: Progress) -> None:
    if number := progress.script_pages:
        have = "has no text or links of its" if number == 1 else "have no text or links of their"
        _print_whole(
            console,
            f"{counted(number, 'page')} {have} own but scripts: a browser would make them, "
            "and scripts are not run here. Look for the site's sitemap or feed and take it as a seed, or for the "
            "address that its scripts ask for data.",
        )


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
    limits: LimitSettings | None = None,
) -> None:
    """What was done, and `go_on`: the command that goes on where it stopped.

    `files`: where they are, if not in `out`. `limits`: those of the crawl.
    """
    files = files or out
    go_on = go_on or command("crawl", "--resume", "--out", out)
    rate = progress.pages / progress.seconds if progress.seconds else 0.0
    console.print(
        Text.assemble(
            (counted(progress.pages, "page"), "bold"),
            f", {size(progress.bytes)} in {span(progress.seconds)} ({rate:,.0f} pages/s); "
            f"{counted(progress.urls_seen, 'URL')} known, {count(progress.urls_queued)} still queued.",
        )
    )
    table = Table(box=None, padding=(0, 2), show_header=False)
    for name, number in sorted(progress.outcomes.items(), key=lambda item: -item[1]):
        others = beside_pages(progress, name)
        meaning = Text(REACTIONS[name].meaning, style="dim")
        table.add_row(name, count(number), meaning.append(f" ({others})") if others else meaning)
    console.print(table)
    if progress.outcomes:
        console.print(Text(f"{visits_in_words(progress)}."))
    _show_remedies(console, progress, out, nothing=had_nothing(progress) and not interrupted)
    _show_links(console, progress, out)
    _show_script_pages(console, progress)
    if progress.hosts_aliases:
        _print_whole(
            console,
            f"{counted(progress.hosts_aliases, 'other name')} of sites crawled already; "
            f"see them, or undo one, with: {command('aliases', out)}",
        )
    if progress.urls_set_aside:
        _print_whole(
            console,
            f"{counted_are(progress.urls_set_aside, 'URL')} set aside: others of the same pattern brought nothing new; "
            f"see why, or take them up, with: {command('patterns', out)}",
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
    places = (
        f"WARC files: {plain(str(files / 'warc'), LONG)}   fetch log: {plain(str(files / 'log'), LONG)}   "
        f"all: {size(progress.disk)}"
    )
    _print_whole(console, places)
    _print_whole(console, f"See it again with: {command('report', out)}, or {command('open', out)}")
    hint = ""
    if unsaved:
        hint = (
            "Stopped with no room left on the disk: the last pages are not stored and will be "
            f"fetched again. Make room, then go on with: {go_on}"
        )
    elif interrupted:
        hint = f"Stopped; everything is saved. Go on with: {go_on}"
    elif progress.activity is Activity.LIMIT_REACHED:
        limit = reached(limits, progress) if limits is not None else None
        higher = limit.option if limit else "--max-pages N"
        hint = f"Stopped at a limit. Go on with a higher one: {go_on} {higher}"
    elif progress.urls_queued and progress.hosts_blocked:
        hint = (
            f"{counted(progress.urls_queued, 'URL')} of blocked hosts stay queued. Go on with them: {go_on} --serve, "
            f"then {command('unblock', 'HOST', '--out', out)}"
        )
    elif progress.urls_queued:
        hint = f"Stopped with URLs queued. Go on with: {go_on}"
    if hint:
        _print_whole(console, hint)


def _show_links(console: Console, progress: Progress, out: Path) -> None:
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
        reason = left_out(name)
        change = f"to change: {with_directory(reason.change, out)}" if reason.change else ""
        table.add_row(
            Text(plain(name)), count(number), Text(reason.meaning, style="dim"), Text(change)
        )
    console.print(table)
