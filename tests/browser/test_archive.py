"""A crawl that has ended in a real browser: the dashboard over its directory, and its report."""

import os
import re
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from tests.audit.crawls import Crawl, crawl, gossamer
from tests.browser.conftest import Opener
from tests.browser.watching import PAGES
from tests.control.opened import opened
from tests.control.serving import until

from gossamer.counts import beside_pages, visits_in_words
from gossamer.report import read_visits

IMAGES = Path(__file__).parents[2] / "docs" / "images"


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    out = tmp_path_factory.mktemp("ended") / "crawl"
    return crawl(out, ("--delay", "5ms"), hosts=6, pages=120, duplicates=0.1, dead_links=0.1)


def test_every_page_of_the_dashboard_shows_a_crawl_that_has_ended(
    open_tab: Opener, ended: Crawl
) -> None:
    with opened(ended.out) as view:
        tab = open_tab()
        tab.sign_in(view.url, view.token())
        notice = tab.page.get_by_label("Alerts")
        expect(notice).to_contain_text("The crawl does not run")
        expect(notice).to_contain_text(f"gossamer crawl --resume --out {ended.out}")
        # The same words as in the report: how the numbers by outcome come to that of the pages.
        counts = read_visits(ended.out).counts
        outcomes = tab.page.get_by_role("table", name="Lines of the fetch log by outcome")
        for name in counts.outcomes:
            row = outcomes.get_by_role("row").filter(has_text=name.replace("_", " "))
            expect(row).to_contain_text(beside_pages(counts, name))
        assert counts.robots_files
        expect(tab.page.get_by_text(visits_in_words(counts))).to_be_visible()
        for name, title in PAGES.items():
            tab.go(name)
            expect(tab.page.get_by_role("heading", level=1)).to_have_text(title)
        tab.go("hosts")
        expect(tab.page.locator("tbody tr")).to_have_count(
            len({row["host"] for row in ended.lines()})
        )


def test_three_days_are_shown_whole_and_in_part(
    open_tab: Opener, ended: Crawl, tmp_path: Path
) -> None:
    """And what nobody wrote down is not shown as 0."""
    long = ended.copy(tmp_path / "long")
    begin, end = long.stretch(timedelta(days=3))
    with opened(long.out) as view:
        tab = open_tab()
        tab.sign_in(view.url, view.token())
        page = tab.page
        expect(page.get_by_label("All")).to_be_checked()
        ticks = page.locator(".plot").nth(0).locator(".tick")
        for days in (1, 2):
            midnight = (begin.astimezone() + timedelta(days=days)).strftime("%m-%d")
            expect(ticks.filter(has_text=midnight)).to_have_count(1)
        tab.choose_range("Custom…")
        first = begin.astimezone() - timedelta(minutes=5)
        page.get_by_label("From").fill(first.strftime("%Y-%m-%dT%H:%M:%S"))
        page.get_by_label("To", exact=True).fill(
            (first + timedelta(hours=6)).strftime("%Y-%m-%dT%H:%M:%S")
        )
        expect(page.locator(".custom-range .problem")).to_be_hidden()
        line = page.locator(".plot").nth(0).locator("path.line")
        expect(line).to_have_attribute("d", re.compile("(?:L[^L]*){30}"))
        assert end - begin > timedelta(days=2.9)
        tab.go("nodes")
        row = page.get_by_role("row").filter(has_text="standalone")
        heads = page.get_by_role("columnheader").all_inner_texts()
        cells = dict(zip(heads, row.locator("th, td").all_inner_texts(), strict=False))
        assert cells["Memory"] == cells["Heartbeat"] == "\N{EN DASH}", cells
        assert "0 per second" not in cells["Pages"], cells
        expect(page.locator(".node-plots")).to_be_hidden()


def test_heads_of_hosts_sort_in_both_directions(open_tab: Opener, ended: Crawl) -> None:
    with opened(ended.out) as view:
        tab = open_tab()
        tab.sign_in(view.url, view.token(), "hosts")
        page = tab.page
        for label, place in (("Host", 0), ("Pages", 3)):
            # Its name has an arrow when it is sorted by.
            head = page.locator("thead th").filter(has_text=label)
            for _ in range(2):
                head.get_by_role("button").click()
                down = head.get_attribute("aria-sort") == "descending"
                until(partial(is_sorted, page, place, down=down), f"{label}, {down=}")
        # On a phone there are no heads: the order is chosen with its direction.
        page.get_by_label("Order").select_option("Fewest pages")
        expect(page.get_by_role("columnheader", name="Pages")).to_have_attribute(
            "aria-sort", "ascending"
        )


def is_sorted(page: Page, place: int, *, down: bool) -> bool:
    cells = page.locator(f"tbody tr > :nth-child({place + 1})").all_inner_texts()
    values: list[Any] = cells if place == 0 else [int(cell) for cell in cells]
    return len(set(values)) > 1 and values == sorted(values, reverse=down)


@pytest.mark.parametrize("width", [375, 1100])
@pytest.mark.parametrize("dark", [False, True])
def test_the_report_fits_and_loads_nothing(
    open_tab: Opener, ended: Crawl, tmp_path: Path, width: int, *, dark: bool
) -> None:
    file = tmp_path / "report.html"
    assert gossamer("report", ended.out, "--html", file).returncode == 0
    tab = open_tab(width=width, dark=dark)
    loaded: list[str] = []
    tab.page.on("request", lambda request: loaded.append(request.url))
    tab.page.goto(file.as_uri())
    expect(tab.page.get_by_role("heading", level=1)).to_contain_text("crawl")
    assert loaded == [file.as_uri()]
    assert tab.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert tab.page.locator("svg rect").count() > 3


@pytest.mark.skipif(not os.environ.get("GOSSAMER_SCREENSHOTS"), reason="GOSSAMER_SCREENSHOTS unset")
def test_a_picture_of_the_report(open_tab: Opener, tmp_path: Path) -> None:
    """Of the report that `GOSSAMER_REPORT` names, or of a small crawl's."""
    file = Path(os.environ.get("GOSSAMER_REPORT", tmp_path / "report.html"))
    if not file.exists():
        done = crawl(tmp_path / "crawl", ("--delay", "50ms"), hosts=12, pages=400, errors=0.02)
        assert gossamer("report", done.out, "--html", file).returncode == 0
    tab = open_tab(width=1100, height=1560)
    tab.page.goto(file.as_uri())
    tab.page.screenshot(path=IMAGES / "report.png")
