"""What pages say of crawls that do not just run well: not begun, cut off, paused, done; on real crawls."""

import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect
from tests.audit.crawls import Crawl, crawl
from tests.browser.clusters import clustered
from tests.browser.conftest import Opener
from tests.browser.serving import reserved_port
from tests.browser.watching import PAGES, Tab
from tests.control.opened import opened
from tests.control.serving import Served, served, until

from gossamer.simweb import Options, serve


@pytest.fixture
def just_begun(tmp_path: Path) -> Iterator[Served]:
    """Its only host takes a connection and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        crawl = Served(tmp_path / "just-begun", None)
        crawl.seed = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        try:
            yield crawl.start()
        finally:
            crawl.kill()


def test_before_the_first_visit_pages_say_what_is_waited_for(
    open_tab: Opener, just_begun: Served
) -> None:
    tab = open_tab()
    tab.sign_in(just_begun.url, just_begun.token())
    page = tab.page
    left = page.locator(".tile").filter(has_text="Time left")
    expect(left).to_contain_text("cannot be told before the first visit has ended")
    expect(left).not_to_contain_text("≥")
    expect(page.locator("main")).to_contain_text("No visit has ended yet")
    expect(page.get_by_role("heading", name="Outcomes so far")).to_be_hidden()
    commands = page.locator(".commands")
    expect(commands.get_by_role("button", name="Pause")).to_be_enabled()
    expect(commands.get_by_role("button", name="Add a node")).to_have_count(0)
    tab.go("log")
    expect(page.locator(".empty")).to_contain_text("No visit has ended yet")
    page.get_by_role("link", name="See what the hosts wait for").click()
    expect(page.locator("h1")).to_have_text("Hosts")
    expect(page.locator("main")).to_contain_text("1 host")
    expect(page.get_by_role("button", name="Next", exact=True)).to_be_hidden()
    host = just_begun.get("/hosts")["hosts"][0]["name"]
    tab.go(f"hosts/{host}", host)
    expect(page.locator("main")).to_contain_text("Not visited yet")
    expect(page.locator("main")).to_contain_text("It was not asked for yet")
    # Times of now, not of 1970.
    clocks = page.locator(".plot .tick").filter(has_text=":").all_text_contents()
    assert clocks
    now = time.localtime()
    minutes = {
        time.strftime("%H:%M", time.localtime(time.mktime(now) - ago)) for ago in (0, 60, 120)
    }
    assert {clock[:5] for clock in clocks} <= minutes
    tab.go(f"url?u={just_begun.seed}", "URL")
    expect(page.locator("main")).to_contain_text("Not visited yet")


def test_a_cluster_without_a_node_says_how_to_start_one(open_tab: Opener, tmp_path: Path) -> None:
    with serve(Options(hosts=2, pages=20, port=0)) as web, clustered(web, tmp_path) as cluster:
        control = cluster.served
        # There is a map, though nobody owns any of it.
        until(lambda: control.ask("GET", "/api/v1/partitions").status == 200, "a map")
        tab = open_tab()
        tab.sign_in(control.url, control.token())
        main = tab.page.locator("main")
        expect(main).to_contain_text("No node has joined yet")
        expect(main).not_to_contain_text("Submit a seed")
        tab.page.get_by_role("link", name="See how to start one").click()
        expect(tab.page.locator(".empty")).to_contain_text("gossamer node")
        expect(tab.page.get_by_role("table", name="Crawl nodes")).to_be_hidden()
        tab.go("partitions")
        expect(main).to_contain_text("they are given out when nodes have joined")
        expect(main).not_to_contain_text("the darkest")


def test_an_outage_is_told_on_every_page_and_leads_to_its_hosts(
    open_tab: Opener, tmp_path: Path
) -> None:
    with (
        serve(Options(hosts=2, pages=4000, port=0)) as web,
        reserved_port() as port,
    ):
        away = [f"http://127.0.0.{at}:{port}/" for at in range(2, 30)]
        with served(tmp_path / "outage", web, *away, "--delay", "2s") as cut:
            until(
                lambda: any(one["kind"] == "outage" for one in cut.get("/alerts")), "an outage", 120
            )
            tab = open_tab()
            tab.sign_in(cut.url, cut.token(), "settings")
            page = tab.page
            mark = page.locator(".alerts-mark")
            expect(mark).to_contain_text("alert")
            mark.click()
            expect(page.locator("h1")).to_have_text("Overview")
            # The worst first: a notice is no warning.
            worst = page.locator(".alert").first
            expect(worst).to_have_class("alert alert-warning")
            worst.get_by_role("link", name="Show the hosts that fail so").click()
            expect(page.get_by_label("Last failure")).to_have_value("connect_failed")
            expect(page.locator("tbody tr").first).to_contain_text("connect failed")
            page.locator("tbody tr").first.get_by_role("link").click()
            # A connection refused at once is no quick answer.
            expect(page.locator(".plot-card")).to_contain_text("no readings yet")
            expect(page.locator("main")).to_contain_text("connect failed")
            tab.go("events")
            told = page.locator(".events li").filter(has_text="cannot be reached")
            told.get_by_role("link", name="the hosts").click()
            expect(page.get_by_label("Last failure")).to_have_value("connect_failed")


def test_a_paused_crawl_promises_no_visit(open_tab: Opener, tmp_path: Path) -> None:
    with (
        serve(Options(hosts=3, pages=3000, port=0)) as web,
        served(tmp_path / "paused", web, "--delay", "200ms") as running,
    ):
        until(lambda: web.requests() > 10, "some visits")
        running.rest()
        host = running.get("/hosts")["hosts"][0]["name"]
        queued = running.get(f"/hosts/{host}/detail")["queue"][0]["url"]
        tab = open_tab()
        tab.sign_in(running.url, running.token())
        tab.go(f"hosts/{host}", host)
        expect(tab.page.locator("main")).to_contain_text("not while the crawl is paused")
        tab.go(f"url?u={queued}", "URL")
        expect(tab.page.locator(".verdict")).to_have_text(
            "It is queued, and not visited while the crawl is paused."
        )
        # Nobody would hear it.
        running.kill()
        expect(tab.page.locator(".lost")).to_be_visible()
        expect(tab.page.locator(".steer")).to_be_disabled()


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    out = tmp_path_factory.mktemp("done") / "crawl"
    return crawl(out, ("--delay", "5ms"), hosts=6, pages=120, errors=0.05, dead_links=0.1)


OFFERS = (
    "Block", "Unblock", "Slow down…", "Set aside…", "Forget…", "Retry now", "Change", "Undo", "Submit", "Take up…",
    "Keep…", "Pause", "Resume", "Stop…", "Checkpoint now", "Re-rank now", "Add a node",
)  # fmt: skip


def test_a_crawl_that_is_done_offers_no_command(open_tab: Opener, done: Crawl) -> None:
    with opened(done.out) as view:
        tab = open_tab()
        tab.sign_in(view.url, view.token())
        host = view.get("/hosts", sort="errors")["hosts"][0]["name"]
        pages = PAGES | {f"hosts/{host}": host, "seeds/0": "Begun with"}
        for address, heading in pages.items():
            tab.go(address, heading)
            expect(tab.page.get_by_text("Looking…")).to_have_count(0)
            check_no_offers(tab)
        tab.go("overview")
        expect(tab.page.locator(".commands")).to_contain_text("The crawl does not run")
        expect(tab.page.locator("footer")).to_contain_text("Signed in to look")
        # What the log does not tell has no empty plot.
        expect(tab.page.get_by_role("heading", name="Pages per second")).to_be_visible()
        expect(tab.page.get_by_role("heading", name="Hosts at work")).to_be_hidden()
        tab.go("hosts")
        expect(tab.page.get_by_label("Order")).to_have_value("pages")
        tab.go("partitions")
        expect(tab.page.get_by_label("Shade by")).to_have_value("pages")


def check_no_offers(tab: Tab) -> None:
    names = tab.page.get_by_role("button").all_inner_texts()
    assert not set(names) & set(OFFERS), (tab.page.url, names)


def test_ages_are_of_now_though_the_crawl_is_long_done(open_tab: Opener, done: Crawl) -> None:
    with opened(done.out) as view:
        tab = open_tab()
        # Two days later.
        tab.page.clock.install(time=time.time() + 2 * 86_400)
        tab.sign_in(view.url, view.token(), "hosts")
        expect(tab.page.locator("tbody tr").first).to_contain_text("2 d ago")
