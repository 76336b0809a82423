"""Commands that messages offer to copy: found in a text, and run by a shell as they stand."""

import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

GOSSAMER = [sys.executable, "-m", "gossamer.cli.main"]
PLACEHOLDERS = {"N": "30", "TIME": "1h", "SIZE": "1GiB"}
_ENDS = re.compile(r"`|\n|, or gossamer|, then gossamer| \(token")


def run(place: Path, *words: str, timeout: float = 120) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*GOSSAMER, *words], capture_output=True, text=True, check=False, timeout=timeout, cwd=place
    )


def offered(text: str) -> list[str]:
    """Commands with words after them, as they stand."""
    found = []
    for start in re.finditer(r"\bgossamer (?=[a-z]+ \S)", text):
        rest = text[start.start() :]
        end = _ENDS.search(rest)
        found.append(rest[: end.start()] if end else rest)
    return found


def those_about(text: str, directory: Path | str) -> list[str]:
    """Commands that name a directory; every one of them can be split by a shell's rules."""
    return [one for one in offered(text) if str(directory) in shlex.split(one)]


def run_copied(command: str, place: Path, url: str) -> subprocess.CompletedProcess[str]:
    """By a shell, with its placeholders filled; one that runs until Ctrl-C is given that when it serves."""
    for name, value in PLACEHOLDERS.items():
        command = re.sub(rf"(?<=[ =]){name}\b", value, command)
    command = re.sub(r"(?<= )URL\b", shlex.quote(url), command)
    tools = place / "tools"
    tools.mkdir(exist_ok=True)
    shim = tools / "gossamer"
    shim.write_text(f'#!/bin/sh\nexec {shlex.join(GOSSAMER)} "$@"\n')
    shim.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}
    process = subprocess.Popen(
        ["/bin/sh", "-c", f"exec {command}"],
        cwd=place, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    told = ""
    if command.startswith("gossamer open "):
        assert process.stderr is not None
        for line in process.stderr:
            told += line
            if line.startswith("read-only:"):
                process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    return subprocess.CompletedProcess(command, process.returncode, out, told + err)
