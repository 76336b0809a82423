"""`gossamer patterns`: what was learnt of URLs (patterns that are doubted, parameters that change nothing), and
how to overrule it.
"""

from pathlib import Path
from typing import Annotated

import msgspec
import typer

from gossamer.cli.found import Running, check_host, check_take_up, open_crawl
from gossamer.cli.json_output import print_json
from gossamer.crawls.kinds import resume_command
from gossamer.errors import UsageError
from gossamer.model.findings import Findings, Parameter
from gossamer.policy.hosts.parameters import STATES
from gossamer.words import count, counted, plain


def patterns(
    directory: Annotated[
        Path | None,
        typer.Argument(
            help="The crawl's directory, running or not; crawl-out if none is named.",
            metavar="DIR",
            show_default=False,
        ),
    ] = None,
    *,
    host: Annotated[
        str | None, typer.Option(help="Show only this host, with its port as it is listed.")
    ] = None,
    take_up: Annotated[
        list[str] | None,
        typer.Option(
            help="Visit what is set aside of this host, and doubt it no more.", metavar="HOST"
        ),
    ] = None,
    pattern: Annotated[
        str | None,
        typer.Option(
            help="With --take-up: only URLs of this pattern, as it is listed; '?NAME': the parameter NAME "
            "stays in URLs, and those that ended for it are visited."
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="The same as DIR.", metavar="DIR")] = None,
    control: Annotated[
        str | None,
        typer.Option(help="The control node of a crawl that runs elsewhere.", metavar="URL"),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show which URL patterns bring nothing new and which parameters change nothing, and overrule that."""
    if pattern is not None and not take_up:
        raise UsageError("--pattern names what is taken up", do="say of which host: --take-up HOST")
    if directory is not None and out is not None and directory != out:
        raise UsageError("DIR and --out are the same thing", do="give one of them")
    where = directory or out
    crawl = open_crawl(control, where, change=bool(take_up))
    try:
        # All are looked at before one is done.
        for name in take_up or []:
            check_take_up(crawl, name, pattern)
        if host is not None:
            check_host(crawl, host)
        taken = {name: crawl.take_up(name, pattern) for name in take_up or []}
        found = crawl.found(host)
    finally:
        crawl.close()
    if json:
        print_json({**msgspec.to_builtins(found), "taken_up": taken})
        return
    go_on = ""
    if taken and not isinstance(crawl, Running):
        go_on = f"; go on with: {resume_command(where or Path('crawl-out'))}"
    for name, urls in taken.items():
        are = "is" if urls == 1 else "are"
        print(f"{counted(urls, 'URL')} of {plain(name)} {are} queued again{go_on}")
    _show(found, host)
    _show_parameters(found.parameters)


def _show(found: Findings, host: str | None) -> None:
    if not found.patterns:
        print(f"No URL pattern{f' of {plain(host)}' if host else ''} is doubted.")
    for row in found.patterns:
        why = row.reason or row.evidence or "taken up"
        state = "are taken up now" if row.taken_up else "set aside"
        print(
            f"{plain(row.host or '?')}  {plain(row.pattern)}: {counted(row.set_aside, 'URL')} {state}; {plain(why)}"
        )
    if found.total > len(found.patterns):
        print(
            f"… and {count(found.total - len(found.patterns))} more; --host HOST shows those of one host"
        )


def _show_parameters(learnt: list[Parameter]) -> None:
    for row in sorted(learnt, key=lambda row: (row.host or "", row.parameter, row.place)):
        evidence = "" if row.state == "kept" else f"; {row.evidence}"
        print(f"{plain(row.host or '?')}  {plain(row.place)}?{plain(row.parameter)}: "
              f"{STATES[row.state]}{evidence}")  # fmt: skip
