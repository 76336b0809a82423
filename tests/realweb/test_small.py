"""A small part of the real webs, with every run of the tests: all content, with little else. `make realweb` runs all of it."""

import pytest
from rich.console import Console
from tests.realweb.alone import alone
from tests.realweb.install import UnavailableError, install
from tests.realweb.run import crawled, known, prepared

APPS = ("docs", "listing", "charsets", "dokuwiki")
LIMIT = 120.0
"""Seconds of a crawl."""


@pytest.mark.parametrize("name", APPS)
def test_all_content_is_found_with_at_most_two_requests_per_page(name: str) -> None:
    console = Console(quiet=True)
    try:
        install(("nginx-light",))
    except UnavailableError as reason:
        pytest.skip(str(reason))
    with alone([known()[name]], console):
        ready, skipped = prepared([name], small=True, console=console)
        if not ready:
            pytest.skip("; ".join(skipped))
        rows, missed = crawled(ready, ["gossamer"], console, keep=None, limit=LIMIT, shown=0)
    assert not missed
    figures = rows[0].figures
    assert (figures.covered, figures.missing) == (1.0, [])
    assert figures.per_page <= 2.0
    assert figures.within_budget >= 0.95
