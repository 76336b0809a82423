"""Starting a crawl, and going on with one: as a command of ours, until it serves its dashboard or has ended.

Takes what was asked for; gives the words of the command. Guarantees: nothing that is given becomes an option or a
command; seeds are in no file that could stay behind; a command that is refused leaves nothing.
"""

import contextlib
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final

import msgspec

from gossamer.control.client import is_served, own_client
from gossamer.control.service import UnreachableError, WrongValueError
from gossamer.crawls.kinds import is_cluster, node_count
from gossamer.crawls.processes import Process, last_words
from gossamer.crawls.schemas import GoOn, NewCrawl
from gossamer.errors import GossamerError
from gossamer.library import log_files
from gossamer.library.runs import FAILED, read_runs
from gossamer.settings.model import ControlSettings

PATIENCE: Final = 45.0
"""Seconds in which a crawl is awaited; afterwards the list tells how it stands."""
LOOK_EVERY: Final = 0.05
_TIMEOUT: Final = 5.0


def new_words(asked: NewCrawl, out: Path, control: ControlSettings) -> list[str]:
    """The seeds come by standard input. Each value stands with its option: one that begins with a dash stays a value."""
    given = {
        "--scope": None if asked.scope is None else asked.scope.value,
        "--max-pages": asked.max_pages,
        "--max-depth": asked.max_depth,
        "--delay": asked.delay,
    }
    options = [f"{name}={value}" for name, value in given.items() if value is not None]
    settings = [*_listening(control)]
    if asked.contact:
        settings.append(f"fetch.contact={msgspec.json.encode(asked.contact).decode()}")
    # After ours, so that they count.
    settings += [line.strip() for line in asked.settings.splitlines() if line.strip()]
    return [
        "crawl", "--quiet", "--seeds=-", "--serve", "--serve-port=0", f"--out={out}", *options,
        *(["--allow-private"] if asked.allow_private else []),
        *(f"--set={one}" for one in settings),
    ]  # fmt: skip


def go_on_words(asked: GoOn, out: Path, control: ControlSettings) -> list[str]:
    first = (
        ["cluster", f"--nodes={node_count(out)}", "--set=control.port=0"]
        if is_cluster(out)
        else ["crawl", "--serve", "--serve-port=0"]
    )
    limit = [] if asked.max_pages is None else [f"--max-pages={asked.max_pages}"]
    listening = [f"--set={one}" for one in _listening(control)]
    return [*first, "--resume", "--quiet", f"--out={out}", *limit, *listening]


def _listening(control: ControlSettings) -> Iterator[str]:
    """A crawl that is started here is reached as the page is: by address, names and certificate."""
    usual = ControlSettings()
    for name in ("address", "names", "certificate", "key"):
        value = getattr(control, name)
        if value != getattr(usual, name):
            yield f"control.{name}={msgspec.json.encode(value).decode()}"


@contextlib.contextmanager
def seeds_as_input(text: str) -> Iterator[IO[bytes]]:
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


def check_ended(process: Process, out: Path, runs: int, log: Path, *, new: bool) -> None:
    """Of a process that has ended without having been seen to serve: raises why, unless it was a crawl that was done."""
    code = process.returncode
    if code is None:
        return
    begun = read_runs(out)[runs:]
    # Small ones, or those without an answer, end at once; that is no refusal.
    if begun and begun[-1].state != FAILED:
        return
    if new:
        _remove_empty(out)
    said = last_words(log) or f"the command ended with code {code} and said nothing"
    raise WrongValueError("refused", said)


def _remove_empty(out: Path) -> None:
    """What a command has begun that could not go on, as long as nothing was visited."""
    if out.is_symlink() or any(file.stat().st_size for file in log_files(out)):
        return
    with contextlib.suppress(OSError):
        shutil.rmtree(out)


def run_to_end(process: Process, seconds: float, page_ends: threading.Event) -> int | None:
    """Its exit code; None: it took too long, or the page ends, and was killed."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and not page_ends.is_set():
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(LOOK_EVERY)
    process.kill()
    process.wait()
    return None
