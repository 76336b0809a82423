"""Crawls that do not run, opened with `gossamer open` for those who look at the page. Each view ends with the page."""

import os
import subprocess
import threading
import time
from collections import OrderedDict
from pathlib import Path
from typing import Final

from gossamer.control.service import RefusedError, UnreachableError, WrongValueError
from gossamer.crawls.entering import listening
from gossamer.crawls.processes import Process, Processes, Started, end
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
        self._open: OrderedDict[str, Started] = OrderedDict()

    def open(self, directory: Path, log: Path) -> None:
        """Until it is served. What `gossamer open` refuses is refused with its words."""
        control = directory / "control"
        if not os.access(control if control.exists() else directory, os.W_OK):
            raise RefusedError(
                "read_only_directory", "the folder may only be read: use gossamer open"
            )
        too_many: list[Started] = []
        with self._lock:
            view = self._open.get(directory.name)
            if view is None or view.process.poll() is not None:
                view = self._launch(directory, log)
            self._open[directory.name] = view
            self._open.move_to_end(directory.name)
            while len(self._open) > MOST:
                too_many.append(self._open.popitem(last=False)[1])
        for one in too_many:
            end(one.process, _SECONDS)
        # Also one that was asked for before: it may not be there yet.
        self._await(view, control)

    def _launch(self, directory: Path, log: Path) -> Started:
        words = [
            "open", "--quiet", "--supervised", "--port=0",
            *(f"--set={one}" for one in listening(self._control, usual=True)), str(directory),
        ]  # fmt: skip
        return self._processes.launch(words, log, stdin=subprocess.PIPE)

    def has(self, name: str) -> bool:
        """Whether one is open, or being opened."""
        with self._lock:
            view = self._open.get(name)
        return view is not None and view.process.poll() is None

    def close(self, name: str) -> None:
        """Nothing, if there is none."""
        with self._lock:
            view = self._open.pop(name, None)
        if view is not None:
            end(view.process, _SECONDS)

    def close_all(self) -> None:
        with self._lock:
            views = [view.process for view in self._open.values()]
            self._open.clear()
        for process in views:
            # All are told before one is waited for.
            if process.stdin is not None:
                process.stdin.close()
        for process in views:
            end(process, _SECONDS)

    def _await(self, view: Started, control: Path) -> None:
        until = time.monotonic() + PATIENCE
        while view.process.poll() is None:
            if _is_of(control, view.process):
                return
            if time.monotonic() > until or self._page_ends.wait(LOOK_EVERY):
                raise UnreachableError("not_opened", "it is being opened; ask again", again=5)
        raise WrongValueError("refused", view.last_words() or "it could not be opened")


def _is_of(control: Path, process: Process) -> bool:
    """Whether the address is that of this process; it is written after the number."""
    try:
        return int((control / "pid").read_text()) == process.pid and (control / "url").exists()
    except (OSError, ValueError):
        return False
