"""The `gossamer` command. Exit codes: 0 done, 1 the job failed, 2 wrong use, 130 interrupted."""

import sys
from typing import Annotated

import typer

import gossamer
from gossamer.cli import nodes, operate, simweb
from gossamer.cli.aliases import aliases
from gossamer.cli.audit import audit
from gossamer.cli.cluster import cluster
from gossamer.cli.control import control
from gossamer.cli.crawl import crawl
from gossamer.cli.export import export
from gossamer.cli.node import node
from gossamer.cli.why import why
from gossamer.errors import GossamerError, UsageError

app = typer.Typer(
    name="gossamer",
    help="A distributed web crawler: polite by construction, losing nothing.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
app.command()(crawl)
app.command()(audit)
app.command()(export)
app.command()(why)
app.command()(aliases)
for steering in (
    operate.status,
    operate.pause,
    operate.resume,
    operate.stop,
    operate.checkpoint,
    operate.rerank,
    operate.block,
    operate.unblock,
    operate.seed,
):
    app.command()(steering)
app.command(name="set")(operate.set_)
app.command()(cluster)
app.command()(control)
app.command()(node)
app.add_typer(nodes.app, name="nodes")
app.add_typer(simweb.app, name="simweb")


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
