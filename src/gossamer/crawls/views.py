"""Crawls that do not run, opened with `gossamer open` for those who look at the page. Each view ends with the page."""

import os
import subprocess
import threading
import time
from collections import OrderedDict
from pathlib import Path
from typing import Final

from gossamer.control.service import RefusedError, UnreachableError, WrongValueError
from gossamer.crawls.processes import Process, Processes, end, last_words
from gossamer.settings.model import ControlSettings

MOST: Final = 8
"""Views at once; the one that was asked for least lately is closed for another."""
PATIENCE: Final = 45.0
LOOK_EVERY: Final = 0.05
_SECONDS: Final = 20.0
"""For a view to end."""


class Views:
    """Filled by `open`, emptied by `close` and at the end of the page; bound: `MOST`."""

    def __init__(
        self, processes: Processes, control: ControlSettings, page_ends: threading.Event
    ) -> None:
        self._processes = processes
        self._control = control
        self._page_ends = page_ends
        self._lock = threading.Lock()
        self._open: OrderedDict[str, Process] = OrderedDict()

    def open(self, directory: Path, log: Path) -> None:
        """Until it is served. What `gossamer open` refuses is refused with its words."""
        control = directory / "control"
        if not os.access(control if control.exists() else directory, os.W_OK):
            raise RefusedError(
                "read_only_directory", "the folder may only be read: use gossamer open"
            )
        with self._lock:
            found = self._open.get(directory.name)
            if found is not None and found.poll() is None:
                self._open.move_to_end(directory.name)
                return
            process = self._processes.launch(
                [
                    "open", "--quiet", "--supervised", "--port=0",
                    f"--address={self._control.address}", str(directory),
                ],
                log,
                stdin=subprocess.PIPE,
            )  # fmt: skip
            self._open[directory.name] = process
            while len(self._open) > MOST:
                _, oldest = self._open.popitem(last=False)
                end(oldest, _SECONDS)
        self._await(process, control, log)

    def close(self, name: str) -> None:
        """Of a crawl that somebody wants to go on with."""
        with self._lock:
            process = self._open.pop(name, None)
        if process is not None:
            end(process, _SECONDS)

    def close_all(self) -> None:
        with self._lock:
            views = list(self._open.values())
            self._open.clear()
        for process in views:
            # All are told before one is waited for.
            if process.stdin is not None:
                process.stdin.close()
        for process in views:
            end(process, _SECONDS)

    def _await(self, process: Process, control: Path, log: Path) -> None:
        until = time.monotonic() + PATIENCE
        while process.poll() is None:
            if _is_of(control, process):
                return
            if time.monotonic() > until or self._page_ends.wait(LOOK_EVERY):
                raise UnreachableError("not_opened", "it is being opened; ask again", again=5)
        raise WrongValueError("refused", last_words(log) or "it could not be opened")


def _is_of(control: Path, process: Process) -> bool:
    """Whether the address is that of this process; it is written after the number."""
    try:
        return int((control / "pid").read_text()) == process.pid and (control / "url").exists()
    except (OSError, ValueError):
        return False
