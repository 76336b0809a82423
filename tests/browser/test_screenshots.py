"""Pictures of a real crawl for the documentation: made with GOSSAMER_SCREENSHOTS=1."""

import os
import socket
import time
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect
from tests.browser.conftest import Opener
from tests.browser.serving import reserved_port
from tests.browser.watching import Tab
from tests.control.serving import Served, served, until

from gossamer.simweb import Options, serve

IMAGES = Path(__file__).parents[2] / "docs" / "images"
LARGEST = 300_000
SECONDS = 150.0
WEB = Options(
    hosts=400, pages=120_000, port=0, latency="lognormal:40ms,1", errors=0.01, redirects=0.05,
    dead_links=0.02, throttle=0.005, robots=0.5, crawl_delay=0.5, duplicates=0.03, resets=0.004,
)  # fmt: skip


@pytest.mark.skipif(not os.environ.get("GOSSAMER_SCREENSHOTS"), reason="GOSSAMER_SCREENSHOTS unset")
@pytest.mark.timeout(600)
def test_pictures(open_tab: Opener, tmp_path: Path):
    IMAGES.mkdir(exist_ok=True)
    with (
        serve(WEB, log=tmp_path / "requests.log") as web,
        served(tmp_path / "simulated-web", web, "--delay", "300ms") as crawl,
    ):
        begun = time.monotonic()
        settings(open_tab(height=860), crawl)
        while time.monotonic() < begun + SECONDS:
            time.sleep(1)
        wide = open_tab(height=1000)
        wide.sign_in(crawl.url, crawl.token())
        picture(wide, "dashboard")
        wide.go("hosts")
        wide.page.get_by_role("button", name="Errors").click()
        wide.page.wait_for_timeout(1500)
        picture(wide, "dashboard-hosts")
        failed = (
            crawl.get("/log", outcome="server_failed", limit=1)["visits"]
            or crawl.get("/log", limit=1)["visits"]
        )
        host = failed[0]["host"]
        wide.go(f"hosts/{host}", host)
        picture(wide, "dashboard-host")
        wide.go(f"url?{urlencode({'u': failed[0]['url']})}", "URL")
        picture(wide, "dashboard-url")
        wide.go("log", "Fetch log")
        picture(wide, "dashboard-log")
        dark = open_tab(height=1000, dark=True)
        dark.sign_in(crawl.url, crawl.token())
        picture(dark, "dashboard-dark")
        phone = open_tab(width=375, height=812)
        phone.sign_in(crawl.url, crawl.token())
        picture(phone, "dashboard-phone")
        crawl.rest()
        picture(wide, "dashboard-paused", page="overview")


@pytest.mark.skipif(not os.environ.get("GOSSAMER_SCREENSHOTS"), reason="GOSSAMER_SCREENSHOTS unset")
@pytest.mark.timeout(600)
def test_pictures_of_an_outage_and_of_a_crawl_that_has_not_begun(open_tab: Opener, tmp_path: Path):
    """Forty hosts of which one answers; a host that takes a connection and says nothing."""
    with (
        serve(Options(hosts=2, pages=4000, port=0), log=tmp_path / "requests.log") as web,
        reserved_port() as port,
    ):
        away = [f"http://127.0.0.{at}:{port}/" for at in range(2, 41)]
        with served(tmp_path / "outage", web, *away, "--delay", "2s") as crawl:
            until(
                lambda: [one for one in crawl.get("/alerts") if one["kind"] == "outage"],
                "an outage",
                120,
            )
            tab = open_tab(height=1000)
            tab.sign_in(crawl.url, crawl.token())
            picture(tab, "dashboard-outage")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        crawl = Served(tmp_path / "silent", None)
        crawl.seed = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        try:
            crawl.start()
            tab = open_tab(height=1000)
            tab.sign_in(crawl.url, crawl.token())
            picture(tab, "dashboard-empty")
        finally:
            crawl.kill()


def settings(tab: Tab, crawl: Served) -> None:
    """A change and its undoing, as the page shows them."""
    tab.sign_in(crawl.url, crawl.token(), "settings")
    page = tab.page
    page.get_by_label("Find").fill("delay")
    for value in ("500ms", "200ms"):
        row = page.locator('.setting[data-name="politeness.delay"]')
        row.get_by_role("button", name="Change").click()
        page.get_by_label("New value of politeness.delay").fill(value)
        row.get_by_role("button", name="Save").click()
        expect(row.locator(".setting-value")).to_have_text(value)
    page.wait_for_timeout(8000)
    row = page.locator('.setting[data-name="politeness.max_crawl_delay"]')
    row.get_by_role("button", name="Change").click()
    picture(tab, "dashboard-settings")


def picture(tab: Tab, name: str, page: str | None = None) -> None:
    if page is not None:
        tab.go(page)
    expect(tab.page.locator(".live-mark")).to_have_attribute("data-state", "live")
    tab.page.wait_for_timeout(2500)
    file = IMAGES / f"{name}.png"
    tab.page.screenshot(path=file, animations="disabled")
    assert file.stat().st_size < LARGEST
