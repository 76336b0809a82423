"""`gossamer report`: what a crawl did, from its files, while it runs and the day after."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from gossamer.cli.console import console
from gossamer.cli.json_output import print_json
from gossamer.cli.look import looked_at
from gossamer.cli.loudness import Loudness, Quiet, Verbose, loudness
from gossamer.cli.reading import read_log_of, told
from gossamer.disk import write_whole
from gossamer.errors import FileError
from gossamer.report import as_html, build, show
from gossamer.report.content import read_content
from gossamer.report.no_robots import no_robots
from gossamer.words import plain


def report(
    directory: Annotated[Path, typer.Argument(help="The crawl.", metavar="DIR")] = Path(
        "crawl-out"
    ),
    *,
    html: Annotated[
        Path | None, typer.Option(help="Write it as one HTML file.", metavar="FILE")
    ] = None,
    content: Annotated[
        bool,
        typer.Option(
            "--content",
            help="Read all WARC files for types and languages, not only their beginnings.",
        ),
    ] = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Report what a crawl did: outcomes, hosts, types, what was not fetched and what would change that."""
    loud = loudness(quiet=quiet, verbose=verbose)
    with looked_at(directory) as look:
        visits = read_log_of(directory, loud, look.committed)
        known = look.known(visits.pages)
        silent = [] if look.running else no_robots(visits.hosts.all(), look.host)
    with told("reading the WARC files", "", loud):
        types = read_content(
            directory, whole=content, others=visits.others, committed=look.committed
        )
    found = build(known, visits, types, silent)
    if html is not None:
        try:
            write_whole(html, as_html(found).encode())
        except OSError as error:
            raise FileError(f"cannot write {html}: {error.strerror or error}") from error
        if loud is not Loudness.QUIET:
            print(f"report: {plain(str(html))}", file=sys.stderr)
    if json:
        print_json(found)
    elif html is None:
        show(found, console(width=min(80, console().width)))
