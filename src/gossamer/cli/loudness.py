"""How much a command says beside what it was asked for: `--quiet`, as usual, `--verbose`."""

from enum import Enum, auto
from typing import Annotated

import typer

from gossamer.errors import UsageError

Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="Say nothing but errors and what was asked for."),
]
Verbose = Annotated[
    bool,
    typer.Option(
        "--verbose", "-v", help="Progress also without a terminal, and how long each part took."
    ),
]


class Loudness(Enum):
    QUIET = auto()
    USUAL = auto()
    VERBOSE = auto()


def loudness(*, quiet: bool, verbose: bool) -> Loudness:
    """By the two options; both at once are wrong use."""
    if quiet and verbose:
        raise UsageError("--quiet and --verbose say the opposite", do="give one of them")
    return Loudness.QUIET if quiet else Loudness.VERBOSE if verbose else Loudness.USUAL
