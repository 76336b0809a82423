"""Runs of their own, minutes to an hour long: URLs known and queued at 10 and at 100 million.

`rehearse` drives `seen` and the frontier on a crawl's store, with the settings of a crawl that sets
none: visits are taken and finished, each page brings 50 fresh URLs of one host, batches are applied.
Only fetching and parsing are left out. RAM grows with the hosts that have work, so all hosts are made
known first, by their start pages, and stay as many; what is added then is the URLs' share.
"""

import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

from benches import seen
from gossamer._native import CrawlRehearsal

HOSTS = 1_000_000
LINKS = 50
STEPS = 10
SIZES = (10_000_000, 100_000_000)
# What a URL takes on disk while files are merged, and then some.
ROOM_PER_URL = 250


def rehearse(urls: int, hosts: int = HOSTS) -> list[dict[str, Any]]:
    """A crawl's memory of so many URLs: RAM and disk on the way there."""
    if shutil.disk_usage(tempfile.gettempdir()).free < urls * ROOM_PER_URL:
        raise RuntimeError(f"{urls} URLs need about {urls * ROOM_PER_URL / 1e9:.0f} GB of disk")
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as directory:
        before = seen.resident()
        crawl = CrawlRehearsal(directory, urls, hosts)

        def row(what: str, took: tuple[int, int, int, float, float, float], wall: float) -> None:
            added, visits, errors, testing, frontier, applying = took
            known, queued, _, in_ram, heads = crawl.counts()
            store, cache, buffers, seen_disk, seen_ram = crawl.usage()
            journal = _journal_bytes(Path(directory) / "state")
            rows.append(
                {
                    "bench": "crawl-large",
                    "what": what,
                    "known": known,
                    "queued": queued,
                    "hosts_in_ram": in_ram,
                    "visits": visits,
                    "errors": errors,
                    "us_per_url": round(wall * 1e6 / max(added, 1), 2),
                    "us_seen": round(testing * 1e6 / max(added, 1), 2),
                    "us_frontier": round(frontier * 1e6 / max(added, 1), 2),
                    "us_apply": round(applying * 1e6 / max(added, 1), 2),
                    "rss_mb": round((seen.resident() - before) / 1e6, 1),
                    "seen_mb": round(seen_ram / 1e6, 1),
                    "heads_mb": round(heads / 1e6, 1),
                    "cache_mb": round(cache / 1e6, 1),
                    "buffers_mb": round(buffers / 1e6, 1),
                    "disk_per_known": round(seen_disk / known, 1),
                    "disk_per_queued": round((store - journal) / max(queued, 1), 1),
                    "journal_mb": round(journal / 1e6, 1),
                }
            )
            last = rows[-1]
            print(
                f"  {what}: {known:,} known, {queued:,} queued, RSS {last['rss_mb']} MB (seen "
                f"{last['seen_mb']}, heads {last['heads_mb']}, store {last['cache_mb']} + "
                f"{last['buffers_mb']}), disk {(store + seen_disk) / 1e9:.2f} GB, {wall:.0f} s",
                flush=True,
            )

        begun = time.perf_counter()
        row("hosts", crawl.hosts(hosts), time.perf_counter() - begun)
        pages = (urls - hosts) // LINKS
        for step in range(1, STEPS + 1):
            begun = time.perf_counter()
            took = crawl.visit(pages * step // STEPS - pages * (step - 1) // STEPS)
            row(f"visits, {step} of {STEPS}", took, time.perf_counter() - begun)
        crawl.close()
    return rows


def _journal_bytes(state: Path) -> int:
    return sum(path.stat().st_size for path in state.rglob("*.jnl"))


def run_large() -> list[dict[str, Any]]:
    known = [row for size in SIZES for row in seen.run_large(size)]
    return [*known, *(row for size in SIZES for row in rehearse(size))]
