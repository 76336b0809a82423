"""The table of a run, for people (terminal, Markdown) and for programs (JSON)."""

import os
import platform
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

from rich.table import Table
from tests.realweb.crawlers import Run
from tests.realweb.measure import BUDGET, Figures

COLUMNS = (
    "application", "crawler", "content pages", "fetched", "requests", "per page",
    f"fetched at {BUDGET} per page", "ended", "exit code", "seconds",
)  # fmt: skip
TEXT = f"""\
# Real webs

`make realweb` installs real software from Debian packages, fills it with real pages by script, serves it on loopback addresses and
crawls it with default settings (`tests/realweb`), beside wget2 and Scrapy on the same web. What cannot be installed is skipped, and said
so. Every run of the tests crawls a small part (`tests/realweb/test_small.py`).

*Content pages*: what a person would call the content of that web, by the software's own data (files, database); listed in the
file of each application. *Fetched* is the share of them answered with 200, *per page* the requests in all for each content page,
robots.txt, redirects and errors included; *fetched at {BUDGET} per page* the share that had been fetched when {BUDGET} times as many requests as
content pages had been made. All by the web server's log.

Wanted of gossamer, in each application: all content, 95 % of it at {BUDGET} per page, at most 2 requests per page at the end. `make realweb` exits
with code 1 and names the application where that is missed. gossamer: `--allow-private --delay 0s`; wget2: `-r -l inf
--max-threads=8`; Scrapy: a minimal `CrawlSpider` that obeys robots.txt.
"""
"""The page docs/realweb.md, but for its figures."""
HEAD = """
This table was written by `{command}` on {machine}, {date}. *Ended*: by itself, within {limit:.0f} s.

"""


@dataclass(frozen=True)
class Row:
    """One application, crawled by one crawler."""

    app: str
    crawler: str
    figures: Figures
    run: Run

    def cells(self) -> tuple[str, ...]:
        figures, run = self.figures, self.run
        return (
            self.app, self.crawler, f"{figures.pages:,}", percent(figures.covered), f"{figures.requests:,}",
            f"{figures.per_page:.2f}", percent(figures.within_budget), "yes" if run.ended else "no",
            str(run.code), f"{run.seconds:.0f}",
        )  # fmt: skip


def percent(share: float) -> str:
    """Rounded down: only all pages are 100 %."""
    return "100 %" if share == 1 else f"{int(share * 1000) / 10:.1f} %"


def machine() -> str:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{os.cpu_count()}-core {platform.machine()} machine with {memory:.0f} GB"


def table(rows: Iterable[Row]) -> Table:
    shown = Table()
    for column in COLUMNS:
        shown.add_column(column, justify="left" if column in COLUMNS[:2] else "right")
    for row in rows:
        shown.add_row(*row.cells())
    return shown


def markdown(rows: Iterable[Row], skipped: Sequence[str], command: str, limit: float) -> str:
    lines = [
        "| " + " | ".join(COLUMNS) + " |",
        "|" + "|".join("---" if column in COLUMNS[:2] else "---:" for column in COLUMNS) + "|",
        *("| " + " | ".join(row.cells()) + " |" for row in rows),
    ]
    head = TEXT + HEAD.format(
        command=command, machine=machine(), date=time.strftime("%Y-%m-%d"), limit=limit
    )
    notes = [f"\nSkipped: {reason}\n" for reason in skipped]
    return head + "\n".join(lines) + "\n" + "".join(notes)


def as_json(rows: Iterable[Row]) -> list[dict[str, object]]:
    return [asdict(row) for row in rows]
