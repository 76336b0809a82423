"""The command `gossamer`."""

import sys

import typer

from gossamer.cli import simweb

app = typer.Typer(no_args_is_help=True, add_completion=False)
app.add_typer(simweb.app, name="simweb")


@app.callback()
def root() -> None:
    """A distributed web crawler."""


def main() -> int:
    try:
        app()
    except SystemExit as exit_:
        return exit_.code if isinstance(exit_.code, int) else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
