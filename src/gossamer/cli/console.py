"""What draws on a terminal: tables, bars, the panel. The text in it steers nothing."""

import sys
from collections.abc import Iterable
from typing import IO, cast

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from gossamer.cli.terminal import drawn_on
from gossamer.words import harmless


class SafeConsole(Console):
    """The library takes most control characters in a text for text, and writes them as they are."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            text, style, control = segment
            yield segment if control else Segment(harmless(text), style)


def console(
    *,
    stderr: bool = False,
    file: IO[str] | None = None,
    width: int | None = None,
    quiet: bool = False,
) -> Console:
    """A console on standard output, or `stderr`; `file`: what stands for it."""
    stream = cast("IO[str]", drawn_on(sys.stderr if stderr else sys.stdout))
    return SafeConsole(
        file=file or stream, stderr=stderr, width=width, quiet=quiet, highlight=False
    )
