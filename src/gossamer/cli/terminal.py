"""Standard output and standard error as the commands have them: whatever is printed, a terminal only shows it.

Arguments, names of files and text from the web are in what is printed. Each print makes the foreign text in it one
line (`gossamer.words.plain`); this is the last gate, which all of them pass. What draws (`gossamer.cli.console`) and what
writes bytes (`export`) goes past it, with gates of its own.
"""

import contextlib
import sys
from collections.abc import Iterator
from typing import Any, TextIO, cast

from gossamer.words import harmless


class Harmless:
    """A stream for text that comes from anywhere."""

    def __init__(self, stream: TextIO) -> None:
        self.drawn_on = stream
        """For what steers the terminal on purpose."""

    def write(self, text: str) -> int:
        self.drawn_on.write(harmless(text))
        return len(text)

    def writelines(self, lines: list[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.drawn_on, name)


@contextlib.contextmanager
def harmless_streams() -> Iterator[None]:
    """While it lasts, `print` steers no terminal."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (cast("TextIO", Harmless(stream)) for stream in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def drawn_on(stream: TextIO) -> TextIO:
    """The stream itself, for what draws."""
    return stream.drawn_on if isinstance(stream, Harmless) else stream
