"""Crawlers under test: command lines with default settings, and a run with a time limit."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.realweb.install import UnavailableError, venv

THREADS = 8
GRACE_SECONDS = 30.0
"""For a crawler that was told to stop, until it is killed."""


@dataclass(frozen=True)
class Run:
    """How a crawl ended."""

    seconds: float
    ended: bool
    """By itself, within the time limit."""
    code: int


def gossamer(starts: Sequence[str], folder: Path) -> list[str]:
    program = Path(sys.executable).with_name("gossamer")
    if not program.exists():
        raise UnavailableError(f"{program} is missing: run make setup")
    return [
        str(program), "crawl", *starts,
        "--out", str(folder / "out"), "--allow-private", "--delay", "0s", "--json",
    ]  # fmt: skip


def wget2(starts: Sequence[str], folder: Path) -> list[str]:
    program = shutil.which("wget2")
    if program is None:
        raise UnavailableError("wget2 is not installed")
    return [
        program, "--no-config", "-q", "-r", "-l", "inf", f"--max-threads={THREADS}", "--robots=on",
        "-P", str(folder / "files"), *starts,
    ]  # fmt: skip


def scrapy(starts: Sequence[str], folder: Path) -> list[str]:
    python = venv(("scrapy",))
    return [str(python), str(Path(__file__).with_name("spider.py")), str(THREADS), *starts]


CRAWLERS: dict[str, Callable[[Sequence[str], Path], list[str]]] = {
    "gossamer": gossamer,
    "wget2": wget2,
    "scrapy": scrapy,
}


def crawl(command: Sequence[str], folder: Path, limit: float) -> Run:
    """Runs a crawler in its folder until it ends, or is told to stop because the time is over."""
    begin = time.monotonic()
    with (folder / "output.log").open("wb") as output:
        running = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
            cwd=folder, start_new_session=True,
        )  # fmt: skip
    ended = True
    try:
        running.wait(limit)
    except subprocess.TimeoutExpired:
        ended = False
    finally:
        seconds = time.monotonic() - begin
        _stop(running)
    return Run(seconds, ended, running.returncode)


def _stop(running: subprocess.Popen[bytes]) -> None:
    """The crawler and what it started: its session is its own."""
    if running.poll() is None:
        running.send_signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            running.wait(GRACE_SECONDS)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(running.pid, signal.SIGKILL)
    running.wait()
