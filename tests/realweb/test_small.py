"""A small part of the real webs, with every run of the tests: all content, with little else. `make realweb` runs all of it."""

import pytest
from rich.console import Console
from tests.realweb.alone import alone
from tests.realweb.goals import missed as short
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
    assert short(rows) == [], rows[0].figures.missing
