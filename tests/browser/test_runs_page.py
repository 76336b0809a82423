"""The page of runs: of an imagined cluster, of a real crawl that was killed, and where no runs are known."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from tests.audit.crawls import Crawl, crawl
from tests.browser.conftest import Opener
from tests.browser.imagined import HOSTILE
from tests.browser.serving import ImaginedServer
from tests.control.opened import opened

from gossamer.library.runs import RUNS, read_runs

KILLED = (
    '{"what":"begin","time":1767261600,"kind":"crawl","resumed":true,"pages":%d,"version":"1"}\n'
)


@pytest.fixture(scope="module")
def limited(tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    """A crawl that ended at its limit."""
    out = tmp_path_factory.mktemp("limited") / "crawl"
    return crawl(out, ("--delay", "5ms", "--max-pages", "30"), hosts=4, pages=120)


def column(page: Page, number: int) -> list[str]:
    return page.locator(f"tbody tr > :nth-child({number})").all_inner_texts()


def test_runs_are_a_table_that_sorts(open_tab: Opener, cluster: ImaginedServer) -> None:
    tab = open_tab()
    tab.sign_in(cluster.served.url, cluster.served.token)
    page = tab.page
    page.get_by_role("navigation").get_by_role("link", name="Runs").click()
    expect(page.locator("h1")).to_have_text("Runs")
    rows = page.get_by_role("table", name="Runs of the crawl").locator("tbody tr")
    expect(rows).to_have_count(4)
    assert column(page, 1) == ["4", "3", "2", "1"]
    expect(rows.nth(0)).to_contain_text(re.compile(r"15 min.*Running.*230,000"))
    expect(rows.nth(1)).to_contain_text(re.compile("\u2013.*Killed.*\u2013"))
    expect(rows.nth(2)).to_contain_text(re.compile(r"2 h 46 min.*Failed.*onerror"))
    expect(rows.nth(3)).to_contain_text(re.compile(r"1 h 23 min.*Limit reached.*90,000.*100,000"))
    # Whoever looks at a crawl that runs is not told how to start it.
    expect(page.get_by_text("Go on with")).to_be_hidden()
    page.get_by_role("button", name="Pages", exact=True).click()
    assert column(page, 1) == ["4", "1", "2", "3"]
    page.get_by_role("button", name="Run", exact=True).click()
    assert column(page, 1) == ["1", "2", "3", "4"]
    assert HOSTILE[:20] in rows.nth(1).inner_text()
    assert tab.has_injected() == []


def test_runs_fit_on_a_phone(open_tab: Opener, cluster: ImaginedServer) -> None:
    tab = open_tab(width=375)
    tab.sign_in(cluster.served.url, cluster.served.token, "runs")
    rows = tab.page.locator("tbody tr")
    expect(rows).to_have_count(4)
    assert tab.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    first, second = (rows.nth(at).bounding_box() for at in (0, 1))
    assert first is not None
    assert second is not None
    # A card below the other, each with the names of its fields.
    assert second["y"] > first["y"] + first["height"] - 1
    label = "getComputedStyle(document.querySelector('tbody td'), '::before').content"
    assert tab.page.evaluate(label) == '"Begun"'


def test_a_run_that_was_killed_is_shown_with_what_goes_on(
    open_tab: Opener, limited: Crawl, tmp_path: Path
) -> None:
    copy = limited.copy(tmp_path / "killed")
    [first] = read_runs(copy.out)
    with (copy.out / RUNS).open("a") as file:
        file.write(KILLED % first.pages)
    with opened(copy.out) as view:
        tab = open_tab()
        tab.sign_in(view.url, view.token(), "runs")
        rows = tab.page.locator("tbody tr")
        expect(rows).to_have_count(2)
        expect(rows.nth(0)).to_contain_text("Killed")
        expect(rows.nth(1)).to_contain_text(re.compile(rf"Limit reached\s*{first.pages}"))
        hint = tab.page.locator("main .hint")
        expect(hint).to_be_visible()
        expect(hint).to_contain_text("The last run was killed")
        expect(hint.locator("code")).to_contain_text(f"gossamer crawl --resume --out {copy.out}")


def test_older_runs_come_on_request(open_tab: Opener, limited: Crawl, tmp_path: Path) -> None:
    copy = limited.copy(tmp_path / "many")
    (copy.out / RUNS).write_text(KILLED % 0 * 120)
    with opened(copy.out) as view:
        tab = open_tab()
        tab.sign_in(view.url, view.token(), "runs")
        rows = tab.page.locator("tbody tr")
        for number in (50, 100):
            expect(rows).to_have_count(number)
            tab.page.get_by_role("button", name="Show older ones").click()
        expect(rows).to_have_count(120)
        expect(tab.page.get_by_role("button", name="Show older ones")).to_be_hidden()


def test_without_runs_it_says_where_the_starts_are(
    open_tab: Opener, limited: Crawl, cluster: ImaginedServer, tmp_path: Path
) -> None:
    copy = limited.copy(tmp_path / "early")
    (copy.out / RUNS).unlink()
    with opened(copy.out) as view:
        tab = open_tab()
        tab.sign_in(view.url, view.token(), "runs")
        expect(tab.page.locator(".empty")).to_contain_text("the next --resume is the first")
        expect(tab.page.locator("table")).to_be_hidden()
    cluster.cluster.runs_so_far = []
    tab = open_tab()
    tab.sign_in(cluster.served.url, cluster.served.token, "runs")
    expect(tab.page.locator(".empty")).to_contain_text("gossamer cluster writes down its runs")
    tab.page.locator(".empty").get_by_role("link", name="Events").click()
    expect(tab.page.locator("h1")).to_have_text("Events")
