"""Commands of ours as processes: started without a shell, their words kept, none left as a zombie.

Guarantees: a process that was killed does not count as alive because nobody has waited for it (`reap`); of what one
said only the end of its log is read, and nothing of what others said there before.
"""

import contextlib
import os
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from gossamer.words import plain

# Without the directory that the page was started in among the places of modules: files there are anybody's.
PROGRAM: Final = [sys.executable, "-P", "-m", "gossamer.cli.main"]
MOST_SAID: Final = 1 << 20
"""Bytes of a log with which another command may begin; a larger one is begun anew."""
_READ: Final = 64 * 1024
"""Bytes of a log that are read, from its end."""
_SAID: Final = 20
"""Lines of its words that are told."""
_MARKS: Final = ("gossamer: ", "Error: ")
_STDIN: Final = "standard input:"

Process = subprocess.Popen[bytes]


@dataclass(frozen=True)
class Started:
    """A command that was started, and where it says why it ends."""

    process: Process
    log: Path
    since: int
    """Bytes that others had said there before."""

    def last_words(self) -> str:
        """Why it did not do what it was told, in its own words, a line each."""
        try:
            with self.log.open("rb") as file:
                file.seek(max(self.since, file.seek(0, os.SEEK_END) - _READ))
                text = file.read(_READ).decode(errors="replace")
        except OSError:
            return ""
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        # The reason is its last word; why single seeds were refused comes before.
        said = [told for line in lines if (told := _said(line))]
        return "\n".join(plain(line, 1000) for line in (said or lines)[-_SAID:])


class Processes:
    """Those that the page has started."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._all: list[Process] = []

    def launch(
        self,
        words: list[str],
        log: Path,
        *,
        stdin: int | IO[bytes] = subprocess.DEVNULL,
        handed: tuple[int, ...] = (),
    ) -> Started:
        """In a session of its own: what ends the page by the terminal does not reach it. `handed`: its descriptors."""
        handle, since = _opened(log)
        try:
            process = subprocess.Popen(  # noqa: S603
                [*PROGRAM, *words],
                stdin=stdin,
                stdout=handle,
                stderr=handle,
                start_new_session=True,
                pass_fds=handed,
            )
        finally:
            os.close(handle)
        with self._lock:
            self._all.append(process)
        return Started(process, log, since)

    def reap(self) -> None:
        with self._lock:
            self._all = [process for process in self._all if process.poll() is None]


def end(process: Process, seconds: float) -> None:
    """Ends one in order; one that does not end in this time is killed."""
    if process.stdin is not None:
        # Who is supervised ends when this does.
        with contextlib.suppress(OSError):
            process.stdin.close()
    else:
        process.terminate()
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _opened(log: Path) -> tuple[int, int]:
    """To be written at its end, and where that is: what earlier ones said is kept, up to a bound."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(log, flags, 0o600)
    since = os.fstat(handle).st_size
    if since > MOST_SAID:
        os.ftruncate(handle, 0)
        since = 0
    return handle, since


def _said(line: str) -> str:
    for mark in _MARKS:
        if line.startswith(mark):
            return line.removeprefix(mark)
    return line.replace(_STDIN, "line ", 1) if line.startswith("seed refused: ") else ""
