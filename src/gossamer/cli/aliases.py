"""`gossamer aliases`: hosts that are one site under many names, and how to undo a finding."""

import contextlib
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from gossamer.cli.json_output import print_json
from gossamer.cli.stopped import open_nodes, view_nodes
from gossamer.errors import UsageError
from gossamer.words import plain


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
    with contextlib.ExitStack() as stack:
        if undo:
            nodes = open_nodes(directory)
            for node in nodes:
                stack.callback(node.close)
        else:
            nodes = [one.node for one in stack.enter_context(view_nodes(directory)).values()]
        # Of a cluster each node is asked: the one that has the host undoes it.
        unknown = [host for host in undo or [] if not any(node.undo_alias(host) for node in nodes)]
        told = [msgspec.json.decode(node.aliases()) for node in nodes]
    found = {name: [row for one in told for row in one[name]] for name in ("aliases", "undone")}
    if json:
        print_json(found)
    else:
        _show(msgspec.convert(found, Findings))
    if unknown:
        raise UsageError(
            f"not an alias in {directory}: {', '.join(map(plain, unknown))}",
            do="name a host as it is listed, with its port",
        )


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
