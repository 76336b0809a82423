"""`gossamer aliases`: hosts that are one site under many names, and how to undo a finding."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from gossamer import _native
from gossamer.cli.text import plain
from gossamer.errors import GossamerError, StateInUseError, UsageError
from gossamer.node.handover import native_settings
from gossamer.settings import load


class Alias(msgspec.Struct, frozen=True):
    """A finding, as the native node tells it."""

    host: str
    of: str
    time: int
    agreements: int
    differences: int
    shared_address: bool
    examples: list[str]


class Findings(msgspec.Struct, frozen=True):
    aliases: list[Alias]
    undone: list[Alias]


def aliases(
    directory: Annotated[Path, typer.Argument(help="A crawl that is not running.", metavar="DIR")],
    *,
    undo: Annotated[
        list[str] | None,
        typer.Option(
            help="Visit this host again, and never call it an alias any more.", metavar="HOST"
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show which hosts are other names of a site, why, and undo what was found."""
    node = _open(directory)
    try:
        unknown = [host for host in undo or [] if not node.undo_alias(host)]
        text = node.aliases()
    finally:
        node.close()
    if json:
        print(text)
    else:
        _show(msgspec.json.decode(text, type=Findings))
    if unknown:
        raise UsageError(f"not an alias in {directory}: {', '.join(map(plain, unknown))}")


def _open(directory: Path) -> _native.Node:
    if not (directory / "state").exists():
        raise UsageError(f"{directory} holds no crawl (no {directory / 'state'})")
    settings = load(directory / "crawl.toml", {})
    try:
        return _native.Node(str(directory), native_settings(settings))
    except ValueError as error:
        raise GossamerError(str(error)) from error
    except OSError as error:
        raise StateInUseError(str(error)) from error


def _show(found: Findings) -> None:
    console = Console()
    if not found.aliases:
        console.print("No host is known to be another name of a site.")
    for title, rows in (("alias", found.aliases), ("undone", found.undone)):
        if not rows:
            continue
        table = Table(box=None, padding=(0, 2))
        for name in (title, "is", "same pages", "different", "address", "found", "such as"):
            table.add_column(name)
        for row in rows:
            table.add_row(
                Text(plain(row.host)),
                Text(plain(row.of)),
                str(row.agreements),
                str(row.differences),
                "shared" if row.shared_address else "another",
                datetime.fromtimestamp(row.time / 1e6, UTC).strftime("%Y-%m-%d %H:%M"),
                Text(plain(" ".join(row.examples))),
            )
        console.print(table)
