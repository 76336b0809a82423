"""Reading seeds from arguments and files."""

import sys
from pathlib import Path
from typing import NamedTuple

from gossamer.errors import UsageError


class Refused(NamedTuple):
    """A seed that was not taken, and why."""

    url: str
    reason: str


def read_seeds(arguments: list[str], file: Path | None) -> list[str]:
    """All seeds in order. A file has a URL per line; `-` is standard input.

    A line that begins with `#` is a comment. Elsewhere `#` is part of the URL.
    """
    seeds = [argument.strip() for argument in arguments]
    if file is not None:
        seeds.extend(_lines(file))
    seeds = [seed if "://" in seed else f"http://{seed}" for seed in seeds if seed]
    if not seeds:
        raise UsageError("no seed given: name a URL, or a file of URLs with --seeds")
    return seeds


def _lines(file: Path) -> list[str]:
    try:
        text = sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot read the seeds in {file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"the seeds in {file} are not UTF-8 text") from error
    lines = (line.strip() for line in text.splitlines())
    return [line for line in lines if line and not line.startswith("#")]
