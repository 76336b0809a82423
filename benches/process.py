"""What a process and a directory use, as the system tells it; and a process of its own for a run."""

import contextlib
import multiprocessing
import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
TICKS = os.sysconf("SC_CLK_TCK")


def alone(run: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Calls in a fresh process: memory that an earlier run gave back would hide what this one takes."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as executor:
        return executor.submit(run, *args, **kwargs).result()


def disk(directory: Path, counts: Callable[[Path], bool] = lambda _: True) -> int:
    """Bytes of the files in a directory; those that go away meanwhile are not counted."""
    total = 0
    for folder, _, names in os.walk(directory):
        for name in names:
            path = Path(folder, name)
            if counts(path):
                with contextlib.suppress(FileNotFoundError):
                    total += path.stat().st_size
    return total


def written() -> int:
    """Bytes that this process has given to the disk since it began."""
    return _field(Path("/proc/self/io"), "write_bytes:")


def resident(process: int) -> int:
    """Bytes of RAM of a process that are its own: without the system's cache of files."""
    return _field(Path(f"/proc/{process}/status"), "RssAnon:") * 1024


def cpu(process: int) -> float:
    """Seconds on the processor of a process, all its threads together."""
    # The name of the program stands in brackets and may hold anything.
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def cpu_of_threads(process: int) -> dict[str, float]:
    """The same by the names of the threads that live now; tasks of one name together."""
    used: dict[str, float] = {}
    for path in Path(f"/proc/{process}/task").iterdir():
        # It may have ended since.
        with contextlib.suppress(OSError):
            head, _, tail = (path / "stat").read_text().rpartition(")")
            name = head.partition("(")[2]
            fields = tail.split()
            used[name] = used.get(name, 0.0) + (int(fields[11]) + int(fields[12])) / TICKS
    return used


def _field(path: Path, name: str) -> int:
    for line in path.read_text().splitlines():
        if line.startswith(name):
            return int(line.split()[1])
    raise RuntimeError(f"{path} does not tell {name}")
