"""A whole crawl of three million pages, everything on: does a page cost more the longer it goes on?

The simulated web (20,000 hosts, all of one size) is served by a process of its own; `gossamer crawl`
runs with robots, WARC files, fetch log and durable state, without a delay. Every 5 s its log is read on
and the system asked what the process uses; then a row for each tenth of the pages. Both processes share
the machine, so CPU per page says more than pages/s.

So that the disk is bounded, WARC files that are finished are deleted while it runs: what the crawl
stores cannot be read afterwards, and nothing here reads it.
"""

import contextlib
import itertools
import json
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benches import process
from benches.pool import simweb
from benches.simweb import free_port
from gossamer.simweb import Options

PAGES = 3_000_000
PAGES_PER_HOST = 150
TENTHS = 10
EVERY = 5.0
# Log, state and `seen`; WARC files go away.
ROOM_PER_PAGE = 3_000
# What the log's line of a robots file, of a probe or of a URL that was not visited has.
NO_PAGE = (b'"purpose":"', b'"soft_404":"probe"', b'"visited":false')
# The setting's default; smaller, files are finished and deleted in a small crawl too.
WARC_SIZE = "1GiB"
GOSSAMER = [sys.executable, "-m", "gossamer.cli.main"]

# The threads of the crawl that live as long as it, as the system abbreviates their names.
THREADS = {
    "node": "python",
    "visits": "gossamer-visit",
    "commit": "gossamer-commit",
    "store": "fjall:worker",
}

Row = dict[str, Any]


@dataclass(frozen=True)
class Sample:
    """The crawl at a moment; pages are those logged."""

    time: float
    pages: int
    cpu: float
    rss: int
    state: int
    threads: dict[str, float]


class Log:
    """Counts the pages of a fetch log that is being written."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.read: dict[str, int] = {}
        self.pages = 0

    def read_on(self) -> int:
        """Pages so far."""
        for path in sorted(self.directory.glob("*.jsonl*")):
            name = path.name.removesuffix(".open")
            # It may have got its final name since.
            with contextlib.suppress(FileNotFoundError), path.open("rb") as file:
                file.seek(self.read.get(name, 0))
                for line in file:
                    if not line.endswith(b"\n"):
                        break
                    self.read[name] = self.read.get(name, 0) + len(line)
                    self.pages += not any(mark in line for mark in NO_PAGE)
        return self.pages


def run(pages: int = PAGES) -> list[Row]:
    if shutil.disk_usage(tempfile.gettempdir()).free < pages * ROOM_PER_PAGE:
        raise RuntimeError(f"{pages} pages need about {pages * ROOM_PER_PAGE / 1e9:.0f} GB of disk")
    options = Options(
        hosts=max(1, pages // PAGES_PER_HOST), pages=pages, host_skew=0.0, port=free_port()
    )
    with simweb(options), tempfile.TemporaryDirectory() as directory:
        samples, found, told = crawl(f"http://127.1.1.1:{options.port}/", Path(directory), pages)
    if found < pages:
        raise RuntimeError(f"{found} pages instead of {pages}")
    rows = tenths(samples)
    return [*rows, *summary(rows), longest_batch(told)]


def crawl(url: str, directory: Path, pages: int) -> tuple[list[Sample], int, Row]:
    """What the crawl used from its start to its end, how many pages it logged, and what it told at its end."""
    out, messages, told = directory / "out", directory / "messages", directory / "told"
    command = [
        *GOSSAMER, "crawl", url, "--scope", "any", "--allow-private", "--delay", "0",
        "--set", f"store.warc_size={WARC_SIZE}", "--out", str(out), "--json",
    ]  # fmt: skip
    log = Log(out / "log")
    samples: list[Sample] = []
    # Often enough that a tenth of a small crawl has some.
    every = min(EVERY, max(0.2, pages / 100_000))
    with (
        messages.open("wb") as errors,
        told.open("wb") as output,
        subprocess.Popen(command, stdout=output, stderr=errors) as child,
    ):
        try:
            while child.poll() is None:
                # The process may have ended since.
                with contextlib.suppress(OSError, RuntimeError, IndexError):
                    samples.append(look(child.pid, log, out))
                _delete_finished(out)
                time.sleep(every)
        finally:
            child.kill()
        if child.returncode:
            raise RuntimeError(messages.read_text(errors="replace")[-2000:])
    return samples, log.read_on(), json.loads(told.read_text().splitlines()[-1])


def look(pid: int, log: Log, out: Path) -> Sample:
    used, rss = process.cpu(pid), process.resident(pid)
    threads = process.cpu_of_threads(pid)
    return Sample(time.monotonic(), log.read_on(), used, rss, process.disk(out / "state"), threads)


def _delete_finished(out: Path) -> None:
    for path in (out / "warc").glob("*.warc.gz"):
        path.unlink(missing_ok=True)


def tenths(samples: list[Sample]) -> list[Row]:
    """A row for each tenth of the pages, from the samples that are nearest to its ends."""
    pages = samples[-1].pages
    marks = [
        min(samples, key=lambda sample: abs(sample.pages - pages * part / TENTHS))
        for part in range(TENTHS + 1)
    ]
    rows: list[Row] = []
    for number, (begin, end) in enumerate(itertools.pairwise(marks), 1):
        done = max(1, end.pages - begin.pages)
        rows.append(
            {
                "bench": "whole",
                "what": f"pages, tenth {number}",
                "pages": end.pages,
                "seconds": round(end.time - begin.time, 1),
                "pages_per_s": round(done / max(end.time - begin.time, 1e-9)),
                "cpu_us_per_page": round((end.cpu - begin.cpu) * 1e6 / done, 1),
                **_by_thread(begin, end, done),
                "rss_mb": round(end.rss / 1e6, 1),
                "state_mb": round(end.state / 1e6, 1),
                "state_per_page": round(end.state / max(1, end.pages), 1),
            }
        )
    return rows


def _by_thread(begin: Sample, end: Sample, pages: int) -> dict[str, float]:
    """CPU per page of each kind of thread, in µs; the rest is that of threads that come and go."""
    taken = {
        what: end.threads.get(name, 0.0) - begin.threads.get(name, 0.0)
        for what, name in THREADS.items()
    }
    taken["rest"] = end.cpu - begin.cpu - sum(taken.values())
    return {f"us_{what}": round(used * 1e6 / pages, 1) for what, used in taken.items()}


def summary(rows: list[Row]) -> list[Row]:
    """The last tenth beside the second: the first has the start of the process in it."""
    return [
        {
            "bench": "whole-growth",
            "what": f"{what}, the last tenth beside the second",
            "value": round(rows[-1][name] / max(rows[1][name], 1e-9), 2),
            "unit": "times",
            "most": MOST.get(name),
        }
        for name, what in (
            ("pages_per_s", "pages/s"),
            ("cpu_us_per_page", "CPU per page"),
            ("rss_mb", "memory of the process"),
        )
    ]


def longest_batch(told: Row) -> Row:
    return {
        "bench": "whole-growth",
        "what": "longest time to apply a batch",
        "value": round(told["longest_batch"] * 1e3, 1),
        "unit": "ms",
        "most": 200,
    }


MOST: dict[str, float] = {"cpu_us_per_page": 1.3, "rss_mb": 1.3}
