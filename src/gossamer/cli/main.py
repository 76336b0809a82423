"""The `gossamer` command. Exit codes: 0 done, 1 the job failed, 2 wrong use, 130 interrupted."""

import sys
from importlib import import_module
from typing import Annotated

import typer

import gossamer
from gossamer.errors import GossamerError, UsageError

COMMANDS = {
    "crawl": "crawl",
    "audit": "audit",
    "export": "export",
    "why": "why",
    "aliases": "aliases",
    "patterns": "patterns",
    "status": "operate",
    "pause": "operate",
    "resume": "operate",
    "stop": "operate",
    "checkpoint": "operate",
    "rerank": "operate",
    "block": "operate",
    "unblock": "operate",
    "seed": "operate",
    "set": "operate",
    "cluster": "cluster",
    "control": "control",
    "node": "node",
    "nodes": "nodes",
    "simweb": "simweb",
}
"""Each command's module; only that of the command that is given is loaded."""

app = typer.Typer(
    name="gossamer",
    help="A distributed web crawler: polite by construction, losing nothing.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)


def _add(name: str) -> None:
    module = import_module(f"gossamer.cli.{COMMANDS[name]}")
    if isinstance(group := getattr(module, "app", None), typer.Typer):
        app.add_typer(group, name=name)
    else:
        app.command(name=name)(getattr(module, {"set": "set_"}.get(name, name)))


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"gossamer {gossamer.__version__}")
        raise typer.Exit


@app.callback()
def root(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Say which.")
    ] = False,
) -> None:
    """A distributed web crawler: polite by construction, losing nothing."""


def main() -> int:
    """Runs the command line and turns our errors into a line and an exit code."""
    first = sys.argv[1] if len(sys.argv) > 1 else ""
    if first in COMMANDS:
        _add(first)
    elif first != "--version":
        for name in COMMANDS:
            _add(name)
    try:
        app()
    except UsageError as error:
        print(f"gossamer: {error}", file=sys.stderr)
        return 2
    except GossamerError as error:
        print(f"gossamer: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
