"""The page of a folder in a real browser: a crawl is started by the form, seen, opened, stopped and gone on with."""

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.audit.crawls import crawl
from tests.browser.conftest import Opener
from tests.browser.pictures.sheets import make_picture
from tests.browser.watching import Tab
from tests.control.serving import Served, until
from tests.crawl.pages import serving
from tests.crawls.paging import SMALL, WEB, paged
from tests.crawls.paging import Page as FolderPage

from gossamer.simweb import SimWeb, serve

IMAGES = Path(__file__).parents[2] / "docs" / "images"
LARGEST = 300_000


@pytest.fixture(scope="module")
def web() -> Iterator[SimWeb]:
    with serve(WEB) as server:
        yield server


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[FolderPage]:
    with paged(tmp_path / "my crawls") as page:
        yield page


@pytest.fixture
def tab(open_tab: Opener, folder: FolderPage) -> Tab:
    tab = open_tab()
    tab.sign_in(folder.url, folder.token())
    return tab


def fill(page: Page, name: str, seeds: str, *, delay: str = "0s") -> None:
    page.get_by_label("Name").fill(name)
    page.get_by_label("Seeds").fill(seeds)
    page.get_by_label("Follow links to").select_option("Anywhere")
    page.get_by_label("Delay").fill(delay)
    if not page.get_by_label("Private addresses too").is_visible():
        page.get_by_text("Further settings").click()
    page.get_by_label("Private addresses too").check()
    page.get_by_role("button", name="Start", exact=True).click()


def row(page: Page, name: str):
    return page.get_by_role("row").filter(has=page.get_by_role("rowheader", name=name))


def test_a_crawl_is_started_by_the_form_seen_to_its_end_and_opened(tab: Tab) -> None:
    page = tab.page
    expect(page.get_by_text("There is no crawl in this folder yet")).to_be_visible()
    with serving(SMALL) as pages:
        fill(page, "small", f"http://127.0.0.1:{pages.port}/")
        expect(row(page, "small")).to_contain_text("Finished")
    expect(row(page, "small")).to_contain_text("2")
    expect(page.get_by_label("Name")).to_have_value("")
    with page.expect_popup() as opened:
        row(page, "small").get_by_role("button", name="Open").click()
    other = Tab(opened.value)
    expect(other.page.get_by_role("heading", name="Overview", level=1)).to_be_visible()
    expect(other.page.locator("header .pill").first).to_have_text("Finished, read-only")
    assert "token" not in other.page.url
    assert other.complaints == []
    row(page, "small").get_by_role("button", name="Close").click()
    expect(row(page, "small").get_by_role("button", name="Close")).to_have_count(0)
    with page.expect_download() as saved:
        row(page, "small").get_by_role("button", name="Report").click()
    assert saved.value.suggested_filename == "small-report.html"
    assert "<!doctype html>" in Path(saved.value.path()).read_text()[:100].lower()
    assert tab.has_injected() == [] or all("crawls/main.js" in one for one in tab.has_injected())


def test_a_running_one_is_entered_stopped_and_gone_on_with(tab: Tab, web: SimWeb) -> None:
    page = tab.page
    fill(page, "long", web.url, delay="500ms")
    expect(row(page, "long")).to_contain_text("Running")
    with page.expect_popup() as entered:
        row(page, "long").get_by_role("button", name="Dashboard").click()
    expect(entered.value.locator("header .pill").first).to_have_text("Running")
    # Who presses by mistake is asked.
    row(page, "long").get_by_role("button", name="Stop").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    row(page, "long").get_by_role("button", name="Stop").click()
    page.get_by_role("dialog").get_by_role("button", name="Stop").click()
    expect(row(page, "long")).to_contain_text("Stopped")
    row(page, "long").get_by_role("button", name="Go on").click()
    expect(row(page, "long")).to_contain_text("Running")
    expect(row(page, "long").get_by_role("cell").nth(2)).to_have_text("2")


def test_a_page_that_is_called_localhost_leads_to_localhost(
    open_tab: Opener, folder: FolderPage, web: SimWeb
) -> None:
    """127.0.0.1 would be another site, from which a dashboard cannot be opened."""
    assert folder.start_crawl("long", web.url, delay="500ms").status == 201
    tab = open_tab()
    tab.sign_in(folder.url.replace("127.0.0.1", "localhost"), folder.token())
    with tab.page.expect_popup() as entered:
        row(tab.page, "long").get_by_role("button", name="Dashboard").click()
    expect(entered.value.locator("header .pill").first).to_have_text("Running")
    assert entered.value.url.startswith("http://localhost:")
    looks = open_tab()
    looks.sign_in(folder.url.replace("127.0.0.1", "localhost"), folder.token("token-read"))
    link = row(looks.page, "long").get_by_role("link", name="Dashboard")
    expect(link).to_have_attribute("href", re.compile("^http://localhost:"))


def test_what_is_refused_stands_beside_the_form(tab: Tab) -> None:
    tab.expect_console("422", "409")
    page = tab.page
    fill(page, "new", "notaurl\nalso wrong")
    problem = page.locator("form .problem")
    expect(problem).to_contain_text("Seed refused: line 1: notaurl: it names no site")
    expect(problem).to_contain_text("seed refused: line 2: also wrong: there is a blank in it")
    expect(page.get_by_label("Seeds")).to_have_value("notaurl\nalso wrong")
    page.get_by_label("Seeds").fill("http://127.0.0.1:1/")
    page.get_by_label("one on each line").fill("politeness.dely=1s")
    page.get_by_role("button", name="Start", exact=True).click()
    expect(problem).to_contain_text("politeness.delay")
    page.get_by_label("one on each line").fill("")
    page.get_by_label("Name").fill("over/there")
    page.get_by_role("button", name="Start", exact=True).click()
    expect(problem).to_contain_text("no slashes")


def test_names_are_text_and_the_token_to_look_changes_nothing(
    open_tab: Opener, folder: FolderPage
) -> None:
    evil = "<img src=x onerror=alert(1)>\u202eevil"
    (folder.out / evil).mkdir()
    (folder.out / evil / "crawl.toml").touch()
    tab = open_tab(width=390, height=844, dark=True)
    tab.sign_in(folder.url, folder.token("token-read"))
    page = tab.page
    expect(page.get_by_role("rowheader")).to_contain_text(
        "<img src=x onerror=alert(1)>⟨U+202E⟩evil"
    )
    expect(page.get_by_text("Not known")).to_be_visible()
    assert page.locator("form").count() == 0
    assert page.locator("tbody").get_by_role("button").all_inner_texts() == ["Report"]
    assert page.locator("img").count() == 0
    assert tab.sideways() <= 0
    assert tab.beyond() == []


def test_the_page_says_when_it_is_cut_off(tab: Tab, folder: FolderPage) -> None:
    assert folder.finish() == 0
    expect(tab.page.locator(".lost")).to_be_visible()
    expect(tab.page.locator(".lost")).to_contain_text("does not answer")
    folder.begin("--port", folder_port(tab))
    expect(tab.page.locator(".live-mark")).to_have_attribute("data-state", "live")
    expect(tab.page.locator(".lost")).to_be_hidden()


def folder_port(tab: Tab) -> str:
    return tab.page.url.partition("//")[2].partition("/")[0].rpartition(":")[2]


@pytest.mark.skipif(not os.environ.get("GOSSAMER_SCREENSHOTS"), reason="GOSSAMER_SCREENSHOTS unset")
def test_picture(open_tab: Opener, chromium: Browser, tmp_path: Path, web: SimWeb) -> None:
    """For the documentation: a crawl of each kind of end, one that runs, and the form filled in."""
    out = tmp_path / "crawls"
    out.mkdir()
    done = crawl(out / "handbook", ("--delay", "0s"), hosts=6, pages=400)
    shutil.copytree(done.out, out / "from-last-year")
    (out / "from-last-year" / "runs.jsonl").unlink()
    crawl(out / "shop", ("--delay", "0s", "--max-pages", "50"), hosts=6, pages=400)
    killed = Served(out / "library", web)
    try:
        killed.start("--delay", "100ms")
        until(lambda: killed.get("/status")["pages"] > 40, "some pages")
    finally:
        killed.kill()
    with paged(out) as folder:
        assert folder.start_crawl("news", web.url, delay="250ms").status == 201
        until(lambda: folder.rows()["news"]["pages"] > 60, "some pages")
        tab = open_tab(width=1360, height=836)
        tab.sign_in(folder.url, folder.token())
        page = tab.page
        page.get_by_label("Name").fill("museum")
        page.get_by_label("Seeds").fill("https://museum.example/")
        page.get_by_label("Most pages").fill("5000")
        page.get_by_label("Contact").fill("you@example.org")
        page.get_by_label("Contact").blur()
        expect(row(page, "news")).to_contain_text("Running")
        place = os.environ["GOSSAMER_SCREENSHOTS"]
        shots = Path(place) if "/" in place else tmp_path
        page.screenshot(path=shots / "crawls.png")
        make_picture(chromium.new_page(), shots / "crawls.png", IMAGES / "crawls.png")
        assert (IMAGES / "crawls.png").stat().st_size < LARGEST
        for name, looks in (("dark", {"dark": True}), ("phone", {"width": 390, "height": 844})):
            other = open_tab(**looks)
            other.sign_in(folder.url, folder.token())
            expect(row(other.page, "news")).to_contain_text("Running")
            other.page.screenshot(path=shots / f"crawls-{name}.png", full_page=True)
            assert other.sideways() <= 0
            assert other.beyond() == []
