"""Real shells on a terminal: a line is typed, the tab key completes it, and the shell says what stands there then."""

import contextlib
import os
import pty
import re
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import pytest

READY: Final = "READY# "
PATIENCE: Final = 30.0
START: Final[dict[str, list[str]]] = {
    "bash": ["bash", "--norc", "--noprofile", "-i"],
    "zsh": ["zsh", "-f", "-i"],
    "fish": ["fish", "--no-config", "-i"],
}
SET_UP: Final[dict[str, str]] = {
    "bash": "bind 'set enable-bracketed-paste off'; source {script}; PS1='READY''# '",
    "zsh": "unsetopt prompt_cr prompt_sp zle_bracketed_paste 2>/dev/null; unset zle_bracketed_paste; "
    "autoload -Uz compinit && compinit -D -u; source {script}; PS1='READY''# '",
}
"""The prompt is put together, so that the line that sets it is not taken for it."""


class Shell:
    """A shell on a terminal of its own."""

    def __init__(self, name: str, script: Path, place: Path) -> None:
        self._said = ""
        self._terminal, own = pty.openpty()
        environment = {"PATH": "/usr/bin:/bin", "TERM": "vt100", "HOME": str(place), "LC_ALL": "C.UTF-8"}  # fmt: skip
        # The terminal is the shell's own, as it wants it for Ctrl-C and jobs.
        self._process = subprocess.Popen(
            ["setsid", "--ctty", *START[name]], cwd=place, env=environment, stdin=own, stdout=own, stderr=own
        )  # fmt: skip
        os.close(own)
        self._type(SET_UP[name].format(script=script) + "\r")
        self._until(READY)

    def completed(self, line: str) -> str:
        """What stands in the line after the tab key: the shell itself prints its words."""
        # Control-A: to the beginning of the line.
        self._type(f"{line}\t\x01printf '<%s>' GOT \r")
        said = self._until(r"<GOT>(<[^\r\n]*>)\r?")
        self._until(READY)
        return " ".join(re.findall("<([^>]*)>", said))

    def _type(self, text: str) -> None:
        os.write(self._terminal, text.encode())

    def _until(self, pattern: str) -> str:
        """Reads on until it was said; gives what its group matched."""
        end = time.monotonic() + PATIENCE
        while (found := re.search(pattern, self._said)) is None:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self._terminal], [], [], left)[0]:
                raise AssertionError(f"{pattern!r} was not said: {self._said!r}")
            self._said += os.read(self._terminal, 65536).decode(errors="replace")
        self._said = self._said[found.end() :]
        return found[found.lastindex or 0]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._terminal)


@contextlib.contextmanager
def shell(name: str, script: Path, place: Path) -> Iterator[Shell]:
    """Skips, saying so, where there is no such shell."""
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed here")
    with Shell(name, script, place) as running:
        yield running
