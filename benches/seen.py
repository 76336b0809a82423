"""The kinds of seen on the same URLs, and the default kind at a size where RAM must stay flat."""

import os
import random
import shutil
import tempfile
import time
from itertools import chain
from pathlib import Path
from typing import Any

from benches import process
from gossamer._native import Seen, SeenRehearsal, seen_kinds

PAGES = 6_000
LINKS = 50
BATCH = 40
# What a key takes while runs are merged, and then some.
ROOM_PER_URL = 45


def pages(seed: int = 1, count: int = PAGES) -> list[list[str]]:
    """Pages of 50 links, 9 of 10 to their own host, popular URLs more often."""
    draw = random.Random(seed)
    hosts = [(f"site{h}.example", int(40 + 400 * draw.paretovariate(1.2))) for h in range(300)]

    def link(host: tuple[str, int]) -> str:
        page = int(host[1] * draw.random() ** 3)
        return f"https://{host[0]}/section-{page % 17}/article-{page}.html"

    result = []
    for _ in range(count):
        home = draw.choice(hosts)
        result.append([link(home if i % 10 else draw.choice(hosts)) for i in range(LINKS)])
    return result


def measure(kind: str, stream: list[list[str]]) -> dict[str, Any]:
    known: set[str] = set()
    expected = []
    for page in stream:
        fresh = []
        for url in page:
            fresh.append(url not in known)
            known.add(url)
        expected.append(fresh)
    with tempfile.TemporaryDirectory() as directory:
        seen = Seen(kind, directory, bloom_bytes=2 * len(known), recent_keys=1 << 14)
        errors = 0
        testing = applying = 0.0
        for numbered in chunks(list(enumerate(stream)), BATCH):
            links = list(chain.from_iterable(page for _, page in numbered))
            begun = time.perf_counter()
            answers = seen.admit(links)
            middle = time.perf_counter()
            seen.commit()
            testing += middle - begun
            applying += time.perf_counter() - middle
            truth = chain.from_iterable(expected[at] for at, _ in numbered)
            errors += sum(a != b for a, b in zip(answers, truth, strict=True))
        tests = len(stream) * LINKS
        row = {
            "bench": "seen",
            "kind": kind,
            "tests": tests,
            "known": len(known),
            "us_per_test": round(testing * 1e6 / tests, 3),
            "us_per_test_with_commit": round((testing + applying) * 1e6 / tests, 3),
            "ram_bytes_per_url": round(seen.ram_bytes() / len(known), 1),
            "disk_bytes_per_url": round(disk_bytes(Path(directory)) / len(known), 1),
            "errors": errors,
            "stated_error": round(seen.error_rate(), 6),
        }
        seen.close()
    return row


def chunks(items: list[Any], size: int) -> list[list[Any]]:
    return [items[at : at + size] for at in range(0, len(items), size)]


def disk_bytes(directory: Path) -> int:
    return sum(path.stat().st_blocks * 512 for path in directory.rglob("*") if path.is_file())


def run() -> list[dict[str, Any]]:
    stream = pages()
    return [measure(kind, stream) for kind in seen_kinds()]


def resident() -> int:
    """Bytes of RAM of this process that are its own."""
    return process.resident(os.getpid())


def run_large(n: int = 10_000_000, steps: int = 10) -> list[dict[str, Any]]:
    """The default kind with n known URLs: RAM on the way there, then pages of known links."""
    if shutil.disk_usage(tempfile.gettempdir()).free < n * ROOM_PER_URL:
        raise RuntimeError(f"{n} URLs need about {n * ROOM_PER_URL / 1e9:.0f} GB of disk")
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as directory:
        seen = Seen("exact", directory)
        web = SeenRehearsal(n, 100_000)
        before = (time.process_time(), process.written())

        def row(what: str, known: int, took: tuple[int, int, int, float, float, float]) -> None:
            nonlocal before
            tests, fresh, errors, wall, cpu, applying = took
            (used_before, written_before), before = before, (time.process_time(), process.written())
            rows.append(
                {
                    "bench": "seen-large",
                    "what": what,
                    "known": known,
                    "fresh_share": round(fresh / tests, 3),
                    "us_per_test": round(wall * 1e6 / tests, 3),
                    "cpu_us_per_test": round(cpu * 1e6 / tests, 3),
                    "us_per_page_of_50": round(wall * 1e6 * LINKS / tests, 1),
                    "cpu_us_per_page_of_50": round(cpu * 1e6 * LINKS / tests, 1),
                    "us_to_apply_per_test": round(applying * 1e6 / tests, 3),
                    # Of all threads, with what it takes to make the URLs up.
                    "cpu_us_whole_process": round((before[0] - used_before) * 1e6 / tests, 3),
                    "written_per_test": round((before[1] - written_before) / tests, 1),
                    "errors": errors,
                    "rss_mb": round(resident() / 1e6, 1),
                    "disk_bytes_per_url": round(process.disk(Path(directory)) / known, 1),
                }
            )
            print(
                f"  {what}, {known:,} known: {rows[-1]['cpu_us_whole_process']} µs CPU", flush=True
            )

        for step in range(1, steps + 1):
            row("load", n * step // steps, web.load(seen, n // LINKS // steps))
        for fresh in (0, 2, 10, LINKS):
            web.visit(seen, 4_000, fresh)
            before = (time.process_time(), process.written())
            row(f"visit, {fresh} of 50 fresh", n, web.visit(seen, 20_000, fresh))
        seen.close()
    return rows
