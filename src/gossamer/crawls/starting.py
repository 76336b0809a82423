"""Starting a crawl, and going on with one: as a command of ours, until it serves its dashboard or has ended.

Takes what was asked for; gives the words of the command. Guarantees: nothing that is given becomes an option or a
command, or can be read by others; seeds and settings are in no file that could stay behind; what is refused before a
crawl was begun leaves no directory, and no other is removed.
"""

import contextlib
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final

from gossamer.control.client import is_served, own_client
from gossamer.control.service import UnreachableError, WrongValueError
from gossamer.crawls.entering import listening
from gossamer.crawls.kinds import is_cluster, node_count
from gossamer.crawls.processes import Process, Started
from gossamer.crawls.schemas import GoOn, NewCrawl
from gossamer.errors import GossamerError, SettingsError
from gossamer.library.runs import FAILED, read_runs
from gossamer.settings import dump, load
from gossamer.settings.assignments import assignments
from gossamer.settings.model import ControlSettings
from gossamer.words import plain

PATIENCE: Final = 45.0
"""Seconds in which a crawl is awaited; afterwards the list tells how it stands."""
LOOK_EVERY: Final = 0.05
_TIMEOUT: Final = 5.0


def settings_of(asked: NewCrawl, control: ControlSettings) -> str:
    """All that the form says, as TOML; what is refused is refused in the words of `gossamer crawl`."""
    given = {
        "scope.kind": None if asked.scope is None else asked.scope.value,
        "limits.pages": asked.max_pages,
        "limits.depth": asked.max_depth,
        "politeness.delay": asked.delay,
        "fetch.allow_private": True if asked.allow_private else None,
        "fetch.contact": asked.contact or None,
        "control.port": 0,
    }
    lines = [line.strip() for line in asked.settings.splitlines() if line.strip()]
    try:
        # The lines after the fields, so that they count.
        values = assignments([*listening(control)])
        values |= {name: value for name, value in given.items() if value is not None}
        return dump(load(None, values | assignments(lines)))
    except SettingsError as error:
        raise WrongValueError("refused", error.in_words()) from error


def new_words(out: Path, settings: int) -> list[str]:
    """The seeds come by standard input. Settings, which may be secret, come by a descriptor: words of a command can be
    read by every user of the machine.
    """
    return [
        "crawl",
        "--quiet",
        "--seeds=-",
        "--serve",
        f"--config=/dev/fd/{settings}",
        f"--out={out}",
    ]


def go_on_words(asked: GoOn, out: Path, control: ControlSettings) -> list[str]:
    first = (
        ["cluster", f"--nodes={node_count(out)}", "--set=control.port=0"]
        if is_cluster(out)
        else ["crawl", "--serve", "--serve-port=0"]
    )
    limit = [] if asked.max_pages is None else [f"--max-pages={asked.max_pages}"]
    reached = [f"--set={one}" for one in listening(control)]
    return [*first, "--resume", "--quiet", f"--out={out}", *limit, *reached]


@contextlib.contextmanager
def unnamed(text: str) -> Iterator[IO[bytes]]:
    """A file without a name, which goes with the process that reads it."""
    with tempfile.TemporaryFile() as file:
        file.write(text.encode())
        file.seek(0)
        yield file


def await_start(process: Process, out: Path, runs: int, page_ends: threading.Event) -> bool:
    """Until the crawl serves its dashboard (True), has ended, or patience is at its end. `runs`: those before."""
    end = time.monotonic() + PATIENCE
    cluster = is_cluster(out)
    while process.poll() is None and time.monotonic() < end:
        if _serves(process, out, runs, cluster=cluster):
            return True
        if page_ends.wait(LOOK_EVERY):
            raise UnreachableError("page_ends", "the page ends; the crawl was started", again=None)
    return False


def _serves(process: Process, out: Path, runs: int, *, cluster: bool) -> bool:
    if len(read_runs(out)) <= runs or not is_served(out):
        return False
    # A run before it that was killed has left an address too.
    if not cluster and _number(out / "control" / "pid") != process.pid:
        return False
    try:
        own_client(out).ask("GET", "/status", timeout=_TIMEOUT, patience=0.0)
    except (GossamerError, OSError):
        return False
    return True


def _number(file: Path) -> int | None:
    try:
        return int(file.read_text())
    except (OSError, ValueError):
        return None


def check_ended(started: Started, out: Path, runs: int, *, new: bool) -> None:
    """Of a process that has ended without having been seen to serve: raises why, unless it was a crawl that was done."""
    code = started.process.returncode
    if code is None:
        return
    begun = read_runs(out)[runs:]
    # Small ones, or those without an answer, end at once; that is no refusal.
    if begun and begun[-1].state != FAILED:
        return
    said = started.last_words() or f"the command ended with code {code} and said nothing"
    if new and not remove_empty(out):
        said += f"\n{plain(out.name)} was begun and is kept: go on with it, or remove its folder"
    raise WrongValueError("refused", said)


def remove_empty(out: Path) -> bool:
    """Whether the directory that was made for a crawl could be removed: nothing was begun in it."""
    with contextlib.suppress(OSError):
        out.rmdir()
    return not out.exists()


def run_to_end(process: Process, seconds: float, page_ends: threading.Event) -> int | None:
    """Its exit code; None: it took too long, or the page ends, and was killed."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and not page_ends.is_set():
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(LOOK_EVERY)
    process.kill()
    process.wait()
    return None
