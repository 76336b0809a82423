"""Stored pages with their lines in the fetch log, in the order of writing."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gossamer.counts import PAGES
from gossamer.library import LogLine, Page, read_log, read_pages

AHEAD = 100_000
"""Lines held while the line of a record is looked for; a sound crawl needs a handful."""


@dataclass(frozen=True, slots=True)
class StoredPage:
    """A page's record and its line."""

    page: Page
    line: LogLine


def stored_pages(out: Path) -> Iterator[StoredPage]:
    """The committed pages of the crawl in `out`, with their bodies.

    No robots files, no sitemaps, no errors, no redirects.
    """
    lines = read_log(out)
    held: dict[tuple[str, str], LogLine] = {}
    for page in read_pages(out, bodies=True):
        record = page.record
        key = (record.uri or "", record.date)
        line = held.pop(key, None)
        while line is None and len(held) < AHEAD:
            found = next(lines, None)
            if found is None:
                break
            if (found.url, found.time) == key:
                line = found
            elif found.status is not None:
                held[found.url, found.time] = found
        if line is not None and line.outcome in PAGES and line.of_page:
            yield StoredPage(page, line)
