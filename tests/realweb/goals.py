"""What a crawl of a real web must reach, with default settings."""

from collections.abc import Iterable, Iterator

from tests.realweb.measure import BUDGET
from tests.realweb.report import Row, percent

COVERED = 1.0
WITHIN_BUDGET = 0.95
PER_PAGE = 2.0
CRAWLER = "gossamer"
"""The others are there to compare with."""


def missed(rows: Iterable[Row]) -> list[str]:
    """Which goal each application's crawl has missed, a line for each."""
    return [f"{row.app}: {text}" for row in rows if row.crawler == CRAWLER for text in _missed(row)]


def _missed(row: Row) -> Iterator[str]:
    figures = row.figures
    if not row.run.ended:
        yield "did not end within the time limit"
    if figures.covered < COVERED:
        yield f"fetched {percent(figures.covered)} of the content, {percent(COVERED)} wanted"
    if figures.within_budget < WITHIN_BUDGET:
        share, wanted = percent(figures.within_budget), percent(WITHIN_BUDGET)
        yield f"fetched {share} at {BUDGET} requests per page, {wanted} wanted"
    if figures.per_page > PER_PAGE:
        yield f"{figures.per_page:.2f} requests per page, at most {PER_PAGE} wanted"
