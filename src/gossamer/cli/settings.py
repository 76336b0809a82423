"""`gossamer settings`: what can be told to it."""

from pathlib import Path
from typing import Annotated

import typer

from gossamer.cli.declared import done_by
from gossamer.cli.options import Config


@done_by("gossamer.cli.settings_shown:settings")
def settings(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            help="Only those with this in their stage, name or meaning; several: with all of them.",
            metavar="WORD",
        ),
    ] = None,
    *,
    out: Annotated[
        Path | None, typer.Option(help="Also the values in the crawl of this directory.")
    ] = None,
    config: Config = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Explain the settings: meaning, how each is written, range, default, value in a crawl."""
