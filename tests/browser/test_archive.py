"""A crawl that has ended in a real browser: the dashboard over its directory, and its report."""

import os
from pathlib import Path

import pytest
from playwright.sync_api import expect
from tests.audit.crawls import Crawl, crawl, gossamer
from tests.browser.conftest import Opener
from tests.browser.watching import PAGES
from tests.control.opened import opened

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
