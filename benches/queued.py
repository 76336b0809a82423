"""A crawl's memory on the way to 200 million known URLs, in one run: minutes to an hour.

`CrawlRehearsal` drives `seen` and the frontier on a crawl's store, with the settings of a crawl that
sets none, but for the store's cache, which has 64 MiB instead of 128: visits are taken and finished, each
page brings 50 fresh URLs of one host, batches of 200 pages are applied, each flushed. Only fetching and
parsing are left out. RAM grows with the hosts that have work, so all hosts are made known first, by their
start pages; later some run dry and leave memory, and come back.

CPU is that of all threads, what is merged in the background too. RAM and the disk of the queue are the most
that was seen at any moment of the step, looked at every 2 s; journals are not in it. Bytes written are those
of this process from the start of the run on, and the amplification is their ratio to all bytes on disk
then. A pause is the time of one batch to be applied, a call that of one call of the frontier.
"""

import itertools
import shutil
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from benches import process, seen
from gossamer._native import CrawlRehearsal

URLS = 200_000_000
HOSTS_PER_URL = 1 / 200
LINKS = 50
# Known URLs at the end of each step, in millions, of a run to 200 million.
ENDS = (2, 5, 10, *range(20, 100, 10), 100, *range(120, 200, 20), 200)
# What a URL takes on disk while files are merged, and then some.
ROOM_PER_URL = 250
EVERY = 2.0
# The store numbers its key spaces from 1 on, in the order of `Space::ALL`; behind them comes the queue's index.
QUEUE_SPACES = ("3", "9")

Took = tuple[int, int, int, float, float, float, float, float, float]
Row = dict[str, Any]


def _of_queue(path: Path) -> bool:
    folders = itertools.pairwise(path.parts)
    spaces = {("keyspaces", space) for space in QUEUE_SPACES}
    return path.suffix == ".seg" or not spaces.isdisjoint(folders)


class Watch(threading.Thread):
    """Looks every 2 s at the disk that the queue takes for each URL in it, and at the RAM of the process."""

    def __init__(self, crawl: CrawlRehearsal, state: Path) -> None:
        super().__init__(daemon=True)
        self.crawl, self.state = crawl, state
        self.ended = threading.Event()
        self.per_queued, self.rss = 0.0, 0

    def run(self) -> None:
        while not self.ended.wait(EVERY):
            self.look()

    def look(self) -> None:
        queued = self.crawl.queued()
        if queued:
            disk = process.disk(self.state, _of_queue)
            self.per_queued = max(self.per_queued, disk / queued)
        self.rss = max(self.rss, seen.resident())

    def worst(self) -> tuple[float, int]:
        """The most of both since this was last asked."""
        self.look()
        most = self.per_queued, self.rss
        self.per_queued, self.rss = 0.0, 0
        return most

    def end(self) -> None:
        self.ended.set()
        self.join()


class Run:
    """One run and its rows."""

    def __init__(self, directory: Path, urls: int, hosts: int) -> None:
        self.directory = directory
        self.rss_before, self.written_before = seen.resident(), process.written()
        self.crawl = CrawlRehearsal(directory, urls, hosts)
        self.watch = Watch(self.crawl, directory / "state")
        self.watch.start()
        self.pages = 0
        self.rows: list[Row] = []

    def close(self) -> None:
        self.watch.end()
        self.crawl.close()

    def row(self, what: str, took: Took, wall: float) -> None:
        added, visits, errors, testing, frontier, applying, cpu, pause, call = took
        per_queued, rss = self.watch.worst()
        known, queued, _, in_ram, heads = self.crawl.counts()
        _, cache, buffers, _, seen_ram = self.crawl.usage()
        disk = process.disk(self.directory)
        written = process.written() - self.written_before
        pages = 0 if what == "hosts" else added // LINKS
        self.pages += pages

        def per_url(seconds: float) -> float:
            return round(seconds * 1e6 / max(added, 1), 2)

        row: Row = {
            "bench": "queue",
            "what": what,
            "known": known,
            "queued": queued,
            "pages": self.pages,
            "visits": visits,
            "errors": errors,
            "seconds": round(wall, 1),
            "urls_per_s": round(added / wall),
            "cpu_us_per_page": round(cpu * 1e6 / pages, 1) if pages else None,
            "us_seen": per_url(testing),
            "us_frontier": per_url(frontier),
            "us_apply": per_url(applying),
            "rss_mb": round((rss - self.rss_before) / 1e6, 1),
            "seen_mb": round(seen_ram / 1e6, 1),
            "heads_mb": round(heads / 1e6, 1),
            "store_mb": round((cache + buffers) / 1e6, 1),
            "hosts_in_ram": in_ram,
            "disk_mb": round(disk / 1e6, 1),
            "journal_mb": round(process.disk(self.directory, _is_journal) / 1e6, 1),
            "disk_per_queued": round(per_queued, 1),
            "written_mb": round(written / 1e6, 1),
            "amplification": round(written / max(disk, 1), 2),
            "pause_ms": round(pause * 1e3, 1),
            "call_ms": round(call * 1e3, 1),
        }
        self.rows.append(row)
        print(
            f"  {what}: {known:,} known, {queued:,} queued, {wall:.0f} s, "
            f"{row['cpu_us_per_page']} µs CPU/page, RSS {row['rss_mb']} MB, disk {row['disk_mb']} MB, "
            f"{row['disk_per_queued']} bytes/URL queued, written {row['amplification']} times, "
            f"pause {row['pause_ms']} ms",
            flush=True,
        )


def _is_journal(path: Path) -> bool:
    return path.suffix == ".jnl"


def ends(urls: int, hosts: int) -> list[int]:
    """Known URLs at the end of each step."""
    scaled = (end * urls // ENDS[-1] for end in ENDS)
    return [end for end in scaled if end > hosts]


def run(urls: int = URLS, hosts: int | None = None) -> list[Row]:
    if shutil.disk_usage(tempfile.gettempdir()).free < urls * ROOM_PER_URL:
        raise RuntimeError(f"{urls} URLs need about {urls * ROOM_PER_URL / 1e9:.0f} GB of disk")
    hosts = hosts or max(1, round(urls * HOSTS_PER_URL))
    with tempfile.TemporaryDirectory() as directory:
        crawl = Run(Path(directory), urls, hosts)
        try:
            begun = time.perf_counter()
            crawl.row("hosts", crawl.crawl.hosts(hosts), time.perf_counter() - begun)
            done = 0
            for end in ends(urls, hosts):
                pages = (end - hosts) // LINKS
                begun = time.perf_counter()
                took = crawl.crawl.visit(pages - done)
                crawl.row(f"to {end:,}", took, time.perf_counter() - begun)
                done = pages
        finally:
            crawl.close()
    return [*crawl.rows, *summary(crawl.rows)]


def summary(rows: list[Row]) -> list[Row]:
    """The worst of the run, each with the most that it may be where that is set."""
    steps = [row for row in rows if row["cpu_us_per_page"] is not None]
    # From a twentieth of the URLs on: before, pages also bring their hosts' robots files, buffers and caches have
    # not filled up to their settings, and hardly anything is merged.
    settled = [row for row in steps if row["known"] >= steps[-1]["known"] / 20] or steps
    first = settled[0]

    def worst(name: str, beside: float) -> float:
        most: float = max(row[name] for row in settled)
        return round(most / max(beside, 1e-9), 3)

    cheapest = min(row["cpu_us_per_page"] for row in steps)
    slowest = first["urls_per_s"] / max(min(row["urls_per_s"] for row in settled), 1)
    return [
        {"bench": "queue-worst", "what": what, "value": value, "unit": unit, "most": MOST.get(what)}
        for what, value, unit in (
            ("URLs lost", sum(row["errors"] for row in rows), "URLs"),
            (CPU, worst("cpu_us_per_page", first["cpu_us_per_page"]), "times"),
            ("CPU per page beside the cheapest step", worst("cpu_us_per_page", cheapest), "times"),
            (SECONDS, round(slowest, 3), "times"),
            ("disk per URL queued", max(row["disk_per_queued"] for row in steps), "bytes"),
            (MEMORY, worst("rss_mb", first["rss_mb"]), "times"),
            ("memory of the process", max(row["rss_mb"] for row in rows), "MB"),
            ("written beside kept", steps[-1]["amplification"], "times"),
            (
                "written for each URL",
                round(steps[-1]["written_mb"] * 1e6 / steps[-1]["known"], 1),
                "bytes",
            ),
            ("a batch to apply", max(row["pause_ms"] for row in rows), "ms"),
            ("a call of the frontier", max(row["call_ms"] for row in rows), "ms"),
        )
    ]


CPU = "CPU per page, the worst step beside a twentieth of the way"
SECONDS = "seconds per URL, the worst step beside a twentieth of the way"
MEMORY = "memory, the most beside a twentieth of the way"
MOST: dict[str, float] = {
    "URLs lost": 0,
    CPU: 1.3,
    SECONDS: 1.3,
    "disk per URL queued": 70,
    MEMORY: 1.05,
    "written beside kept": 3,
    "a batch to apply": 200,
    "a call of the frontier": 200,
}
