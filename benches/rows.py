"""Rows that a page writes beside the queue, each kind alone on a crawl's store.

`index`: an index row per page. `history`: every other visit is that of a page visited before, whose row
is looked up and written anew. `content`: digests of contents, looked up before they are written.
`graph`: the targets of a page's 50 links. Each kind has a process
of its own. Batches of 512 visits, each safe against a power cut. CPU is
that of all threads, what is merged in the background too, and with what it takes to make the rows up;
bytes written are those of this process in the step, journals too; disk is that of the store without
journals, after the step, for each page that has a row.
"""

import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

from benches import process, seen
from gossamer._native import RowsRehearsal, row_kinds

PAGES = 10_000_000
HOSTS_PER_PAGE = 1 / 100
STEPS = 10
# What a page takes on disk while files are merged, and then some.
ROOM_PER_PAGE = 800

Row = dict[str, Any]


def run(pages: int = PAGES) -> list[Row]:
    if shutil.disk_usage(tempfile.gettempdir()).free < pages * ROOM_PER_PAGE:
        raise RuntimeError(f"{pages} pages need about {pages * ROOM_PER_PAGE / 1e9:.0f} GB of disk")
    return [row for kind in row_kinds() for row in process.alone(measure, kind, pages)]


def measure(kind: str, visits: int) -> list[Row]:
    """Rows of so many visits, in ten steps."""
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as directory:
        before = seen.resident()
        store = RowsRehearsal(directory, kind, max(1, round(visits * HOSTS_PER_PAGE)))
        try:
            for step in range(1, STEPS + 1):
                part = visits * step // STEPS - visits * (step - 1) // STEPS
                written, begun = process.written(), time.perf_counter()
                took = store.write(part)
                used = {
                    "wall": time.perf_counter() - begun,
                    "written": process.written() - written,
                    "rss": seen.resident() - before,
                    "disk": process.disk(Path(directory), lambda path: path.suffix != ".jnl"),
                }
                rows.append(_row(kind, store.pages(), took, used))
        finally:
            store.close()
    last = rows[-1]
    print(
        f"  {kind}: {last['cpu_us_per_visit']} µs CPU/visit, {last['written_per_visit']} bytes "
        f"written/visit, {last['disk_per_page']} bytes of disk/page, RSS {last['rss_mb']} MB, "
        f"worst pause {max(row['pause_ms'] for row in rows)} ms",
        flush=True,
    )
    return rows


def _row(
    kind: str,
    pages: int,
    took: tuple[int, int, int, float, float, float, float],
    used: dict[str, float],
) -> Row:
    visits, errors, size, look_up, applying, cpu, pause = took
    return {
        "bench": "rows",
        "what": kind,
        "pages": pages,
        "visits": visits,
        "value": errors,
        "unit": "errors",
        "most": 0,
        "visits_per_s": round(visits / used["wall"]),
        "cpu_us_per_visit": round(cpu * 1e6 / visits, 2),
        "us_look_up": round(look_up * 1e6 / visits, 2),
        "us_apply": round(applying * 1e6 / visits, 2),
        "row_bytes": round(size / visits, 1),
        "written_per_visit": round(used["written"] / visits, 1),
        "disk_per_page": round(used["disk"] / pages, 1),
        "rss_mb": round(used["rss"] / 1e6, 1),
        "pause_ms": round(pause * 1e3, 1),
    }
