"""A terminal that shows a drawing when it is whole, so that nothing flickers.

A panel is drawn anew by erasing its lines and writing them again. Between the two marks of a synchronised update
(DEC private mode 2026) a terminal keeps showing what was there; one that does not know the marks ignores them.
"""

from typing import Final, TextIO

BEGIN: Final = "\x1b[?2026h"
END: Final = "\x1b[?2026l"
_ERASE: Final = "\x1b[2K"


class Steady:
    """Standard error for a console that draws."""

    def __init__(self, terminal: TextIO) -> None:
        self._terminal = terminal

    def write(self, text: str) -> int:
        # Only what erases can flicker; a line that is added stays as it is.
        return self._terminal.write(f"{BEGIN}{text}{END}" if _ERASE in text else text)

    def flush(self) -> None:
        self._terminal.flush()

    def isatty(self) -> bool:
        return self._terminal.isatty()

    def fileno(self) -> int:
        return self._terminal.fileno()

    @property
    def encoding(self) -> str:
        return self._terminal.encoding
