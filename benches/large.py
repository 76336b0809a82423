"""Runs of their own, minutes to hours long: `python -m benches large [PART...]`, without a part all.

`seen`: URLs known at 10 million, 100 million and 1 billion. `queue`: known and queued on the way to 200 million.
`rows`: the rows that a page writes beside these. `crawl`: a whole crawl of three million pages.
With `--urls` and `--pages` the parts are as small as one likes.
"""

from collections.abc import Callable, Iterator
from typing import Any

from benches import process, queued, rows, seen, whole

SIZES = (10_000_000, 100_000_000, 1_000_000_000)

Row = dict[str, Any]


def _seen(urls: int | None, _pages: int | None) -> list[Row]:
    return [
        row for size in ((urls,) if urls else SIZES) for row in process.alone(seen.run_large, size)
    ]


def _queue(urls: int | None, _pages: int | None) -> list[Row]:
    return process.alone(queued.run, urls or queued.URLS)


def _rows(_urls: int | None, pages: int | None) -> list[Row]:
    return rows.run(pages or rows.PAGES)


def _crawl(_urls: int | None, pages: int | None) -> list[Row]:
    return whole.run(pages or whole.PAGES)


PARTS: dict[str, Callable[[int | None, int | None], list[Row]]] = {
    "seen": _seen,
    "queue": _queue,
    "rows": _rows,
    "crawl": _crawl,
}


def run_parts(parts: list[str], urls: int | None, pages: int | None) -> Iterator[list[Row]]:
    """The rows of each part as soon as it is done."""
    for part in parts or PARTS:
        yield PARTS[part](urls, pages)
