"""`gossamer aliases`: hosts that are one site under many names, and how to undo a finding."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from gossamer import _native
from gossamer.cli.text import plain
from gossamer.errors import GossamerError, StateInUseError, UsageError
from gossamer.node.native_settings import to_native
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
    samples: int = 0


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
    node = open_crawl(directory)
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


def open_crawl(directory: Path) -> _native.Node:
    if not (directory / "state").exists():
        raise UsageError(f"{directory} holds no crawl (no {directory / 'state'})")
    settings = load(directory / "crawl.toml", {})
    try:
        return _native.Node(str(directory), to_native(settings))
    except _native.StateInUseError as error:
        raise StateInUseError(
            f"the crawl in {directory} is running, and its state belongs to it until it ends; "
            "stop it with Ctrl-C and ask again (--resume goes on)"
        ) from error
    except (_native.StateError, OSError) as error:
        raise GossamerError(str(error)) from error
    except ValueError as error:
        raise UsageError(str(error)) from error


def _show(found: Findings) -> None:
    if not found.aliases:
        print("No host is known to be another name of a site.")
    for row in found.aliases:
        print(f"{plain(row.host)} is {plain(row.of)}: {_reasons(row)}")
    for row in found.undone:
        print(f"{plain(row.host)} is itself (undone; it was {plain(row.of)}: {_reasons(row)})")


def _reasons(row: Alias) -> str:
    address = "one address" if row.shared_address else "another address"
    when = datetime.fromtimestamp(row.time / 1e6, UTC).strftime("%Y-%m-%d %H:%M UTC")
    examples = plain(", ".join(row.examples))
    return (
        f"{row.agreements} paths with the same page, {row.differences} with another "
        f"({row.samples} looked at since), {address}, found {when}; such as {examples}"
    )
