"""`gossamer crawls`: the crawls of a folder, as a list, or as a page on which they are started and led to."""

from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from gossamer.cli.console import console
from gossamer.cli.json_output import print_json
from gossamer.cli.loudness import Quiet
from gossamer.crawls.listing import list_crawls
from gossamer.crawls.schemas import CrawlList, CrawlRow
from gossamer.errors import UsageError
from gossamer.report.moments import moment
from gossamer.words import command, count, counted, plain

_STYLES: Final = {
    "running": "green", "paused": "yellow", "disk_full": "red", "killed": "red", "failed": "red",
}  # fmt: skip
_MINUTES: Final = 16
"""Characters of a moment without its seconds."""
_DAY: Final = 10


def crawls(
    folder: Annotated[
        Path, typer.Argument(help="Where the crawls are, each in a folder.", metavar="FOLDER")
    ] = Path(),
    *,
    serve: Annotated[
        bool,
        typer.Option(
            "--serve", help="Serve a page until Ctrl-C: the list, and a form that starts a crawl."
        ),
    ] = False,
    port: Annotated[
        int | None, typer.Option(help="With --serve: its port [default: 8790, or any].")
    ] = None,
    address: Annotated[
        str | None, typer.Option(help="With --serve: address to listen on [default: 127.0.0.1].")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="With --serve: control.names, control.tokens, control.certificate or control.key.",
            metavar="NAME=VALUE",
        ),
    ] = None,
    quiet: Quiet = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """List the crawls in a folder, or serve a page to start, stop and open them."""
    if serve:
        if json:
            raise UsageError("--json lists and --serve serves", do="give one of them")
        # A list need not load a web server.
        from gossamer.cli.crawls_page import serve_page  # noqa: PLC0415

        serve_page(folder, port=port, address=address, settings=settings or [], quiet=quiet)
        return
    if port is not None or address is not None or settings:
        raise UsageError("--port, --address and --set say where to serve", do="give --serve too")
    found = list_crawls(folder)
    if json:
        print_json(found.model_dump(mode="json"))
    else:
        _show(found, folder, console())


def _show(found: CrawlList, folder: Path, screen: Console) -> None:
    if not found.crawls:
        begin = command("crawl", "example.org", "--out", folder / "NAME")
        print(f"No crawl is in {plain(found.folder, 1000)}. Begin one with: {begin}")
        return
    screen.print(_table(found.crawls))
    if found.left_out:
        print(f"… and {counted(found.left_out, 'crawl')} more, begun or ended before these.")
    for row in found.crawls:
        if row.dashboard is not None:
            what = "dashboard" if row.running else "open, read-only"
            print(f"{plain(row.name)}: {what}: {plain(row.dashboard)}")
        if row.error:
            print(f"{plain(row.name)}: failed: {plain(row.error, 400)}")


def _table(rows: list[CrawlRow]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("Crawl", overflow="fold", min_width=10)
    table.add_column("State", no_wrap=True)
    table.add_column("Pages", justify="right", no_wrap=True)
    table.add_column("Runs", justify="right", no_wrap=True)
    table.add_column("Last run (UTC)", min_width=_MINUTES + 2)
    for row in rows:
        name = Text(plain(row.name))
        if row.kind == "cluster":
            name.append(" (cluster)", style="dim")
        table.add_row(
            name,
            Text(in_words(row.state), style=_STYLES.get(row.state, "")),
            "-" if row.pages is None else count(row.pages),
            "-" if not row.runs else count(row.runs),
            _last_run(row),
        )
    return table


def in_words(state: str) -> str:
    return "not known" if state == "unknown" else state.replace("_", " ")


def _last_run(row: CrawlRow) -> str:
    """From when to when; the day of the end only where it is another."""
    if row.began is None:
        return "-"
    began = moment(row.began)[:_MINUTES]
    if row.ended is None:
        return f"since {began}" if row.running else f"from {began}"
    ended = moment(row.ended)[:_MINUTES]
    return f"{began} to {ended[_DAY + 1 :] if ended[:_DAY] == began[:_DAY] else ended}"
