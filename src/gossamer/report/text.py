"""The report for a terminal of 80 columns."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from gossamer.counts import visits_in_words
from gossamer.policy.hosts.outcomes import Group, group
from gossamer.policy.rules.left_out import left_out
from gossamer.report.build import outcome_words
from gossamer.report.examples import SHOWN
from gossamer.report.facts import cell, content_words, page_facts, squeezed, value
from gossamer.report.model import HostLine, Report
from gossamer.report.moments import moment
from gossamer.report.runs import head, shown_runs
from gossamer.words import command, count, counted, plain, size, span

BLOCKS: Final = " ▁▂▃▄▅▆▇█"
BAR: Final = 20
RUNS: Final = 10
_COLOURS: Final = {Group.DONE: "green", Group.REFUSED: "yellow", Group.FAILED: "red"}


def show(report: Report, console: Console) -> None:
    _head(report, console)
    _runs(report, console)
    _over_time(report, console)
    _outcomes(report, console)
    _missing(report, console)
    _refusals(report, console)
    _links(report, console)
    _hosts(
        console, "Outcomes by host, those with most lines of the log", report.busiest_hosts, "all"
    )
    _hosts(console, "Hosts with most failures", report.worst_hosts, "failed")
    _hosts(console, "Slowest hosts", report.slowest_hosts, "slow")
    _hosts(console, "Largest sites", report.largest_hosts, "large")
    _pages(report, console)
    _settings(report, console)
    for note in report.notes:
        console.print(Text(f"Note: {plain(note, 400)}", style="yellow"))


def _title(console: Console, text: str) -> None:
    console.print()
    console.print(Text(text, style="bold"))


def _table() -> Table:
    return Table(box=None, padding=(0, 2, 0, 0), show_header=False)


def _bar(part: float, whole: float) -> str:
    return "█" * max(1, round(BAR * part / whole)) if part and whole else ""


def _head(report: Report, console: Console) -> None:
    console.print(Text(plain(report.directory, 300), style="bold"), soft_wrap=True)
    nodes = f", {len(report.nodes)} nodes" if report.nodes else ""
    console.print(Text(f"{report.mode}{nodes}. {report.state_words}"))
    if report.began is not None and report.ended is not None:
        took = span(report.ended - report.began)
        console.print(Text(f"From {moment(report.began)} to {moment(report.ended)} UTC ({took})."))
    worked = report.seconds or 0.0
    rate = f", {report.pages / worked:,.1f} pages/s" if worked >= 1 else ""
    console.print(
        Text.assemble(
            (counted(report.pages, "page"), "bold"),
            f", {size(report.bytes)}, {counted(report.visits, 'visit')} to {counted(report.hosts, 'host')}{rate}",
        )
    )
    known = [
        f"{counted(number, 'URL')} {word}"
        for number, word in (
            (report.urls_seen, "known"),
            (report.urls_queued, "queued"),
            (report.urls_set_aside, "set aside"),
        )
        if number is not None
    ]
    console.print(Text(", ".join(known)))
    if report.go_on:
        console.print(Text(f"Go on with: {report.go_on}"), soft_wrap=True)


def _runs(report: Report, console: Console) -> None:
    shown = shown_runs(report, RUNS)
    if not shown.rows:
        return
    _title(console, "Runs")
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name in shown.columns:
        right = name in {"run", "took", "pages"}
        table.add_column(head(name), justify="right" if right else "left", no_wrap=True)
    for row in shown.rows:
        table.add_row(*(Text(getattr(row, name)) for name in shown.columns))
    console.print(table)
    for note in shown.notes:
        console.print(Text(note), soft_wrap=True)


def _over_time(report: Report, console: Console) -> None:
    line = report.timeline
    if len(line.times) < 2:
        return
    _title(console, "Pages over time")
    width = min(70, len(line.times))
    for label, values, style in (("pages", line.pages, "green"), ("failed", line.failed, "red")):
        if any(values):
            sums = squeezed(values, width)
            most = max(sums)
            drawn = "".join(BLOCKS[-(-8 * one // most)] for one in sums)
            console.print(Text.assemble((f"{label:>7} ", "dim"), (drawn, style)))
    ends = (
        f"{moment(line.times[0])[11:]} UTC, a column is {span(len(line.times) / width * line.step)}"
    )
    console.print(Text(f"        {ends}", style="dim"))


def _outcomes(report: Report, console: Console) -> None:
    _title(console, "Outcomes, of all lines of the log")
    table, most = _table(), max(report.outcomes.values(), default=0)
    for name, number in report.outcomes.items():
        colour = _COLOURS[group(name)]
        table.add_row(
            Text(name), Text(count(number), justify="right"),
            Text(_bar(number, most), style=colour), Text(outcome_words(report, name), style="dim"),
        )  # fmt: skip
    console.print(table)
    if report.outcomes:
        console.print(Text(f"{visits_in_words(report)}."))


def _missing(report: Report, console: Console) -> None:
    if not report.not_fetched:
        return
    _title(console, "Not fetched, and what would change it")
    for row in report.not_fetched:
        console.print(Text.assemble((f"{count(row.number)} {row.what}", "bold"), f": {row.why}"))
        if row.hosts:
            console.print(Text(f"  {', '.join(plain(host) for host in row.hosts)}"))
        for url in row.urls:
            console.print(Text(f"  {plain(url)}"), soft_wrap=True)
        if row.change:
            console.print(Text(f"  {row.change}"), soft_wrap=True)
    if any(row.number > len(row.urls) > 0 for row in report.not_fetched):
        look = command("open", Path(report.directory))
        log = plain(str(Path(report.directory) / "log"), 300)
        text = f"At most {SHOWN} URLs of each are named, the last ones; all: Fetch log in the dashboard ({look}), or {log}"
        console.print(Text(text), soft_wrap=True)


def _refusals(report: Report, console: Console) -> None:
    named = [row for row in report.refusals if row.reason is not None]
    if not named:
        return
    _title(console, "Refused, by rule or reason")
    table = _table()
    for row in named:
        table.add_row(
            Text(count(row.lines), justify="right"),
            Text(row.outcome),
            Text(plain(row.reason or "", 120)),
        )
    console.print(table)


def _links(report: Report, console: Console) -> None:
    if not report.links_left_out:
        return
    _title(console, "Links that were not followed, counted on each page")
    table = _table()
    for name, number in report.links_left_out.items():
        words, change = left_out(name)
        changed = f"; to change: {change}" if change else ""
        table.add_row(
            Text(name), Text(count(number), justify="right"), Text(words + changed, style="dim")
        )
    console.print(table)


def _hosts(console: Console, title: str, hosts: Sequence[HostLine], kind: str) -> None:
    if not hosts:
        return
    _title(console, title)
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("host", overflow="ellipsis", no_wrap=True, max_width=38)
    wanted = {
        "all": ("lines", "done", "refused", "failed"),
        "failed": ("failed", "visits", "mostly"),
        "slow": ("mean", "longest", "visits"),
        "large": ("pages", "received", "mean"),
    }[kind]
    for name in wanted:
        table.add_column(name, justify="left" if name == "mostly" else "right", no_wrap=True)
    for host in hosts:
        table.add_row(Text(plain(host.host)), *(Text(cell(host, name)) for name in wanted))
    console.print(table)


def _shares(counts: Mapping[str, int], most: int) -> str:
    total = sum(counts.values())
    named = [f"{plain(name)} {number / total:.0%}" for name, number in list(counts.items())[:most]]
    more = [f"and {len(counts) - most} more"] if len(counts) > most else []
    return ", ".join(named + more)


def _pages(report: Report, console: Console) -> None:
    _title(console, "Pages")
    table = _table()
    if report.depths:
        table.add_row(
            "depth",
            Text(
                ", ".join(
                    f"{name}: {count(many)}" for name, many in list(report.depths.items())[:12]
                )
            ),
        )
    for name, text in page_facts(report):
        table.add_row(name, Text(text))
    if report.content is not None:
        table.add_row("types", Text(_shares(report.content.types, 6) or "no page is stored"))
        table.add_row(
            "languages", Text(_shares(report.content.languages, 6) or "no page says which")
        )
        table.add_row("", Text(content_words(report), style="dim"))
    console.print(table)


def _settings(report: Report, console: Console) -> None:
    if not report.settings_known:
        return
    _title(console, "Settings that differ from the defaults")
    if not report.settings:
        console.print("none")
    table = _table()
    for row in report.settings:
        table.add_row(
            row.name, Text(value(row.value)), Text(f"default {value(row.default)}", style="dim")
        )
    console.print(table)
