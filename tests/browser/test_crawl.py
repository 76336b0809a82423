"""The dashboard steers a real crawl: judged by the log of the simulated web, not by what it says."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect
from tests.browser.conftest import Opener
from tests.browser.serving import reserved_port
from tests.browser.watching import PAGES, Tab
from tests.control.serving import Served, gaps_since, requests, served, until
from tests.native.hostile_server import HostileServer, send

from gossamer.simweb import Options, SimWeb, serve

# Work for minutes: the crawl does not end before the test does.
WEB = Options(hosts=40, pages=20_000, host_skew=0.0, duplicates=0.05, port=0)


@pytest.fixture
def web_log(tmp_path: Path) -> Path:
    return tmp_path / "requests.log"


@pytest.fixture
def web(web_log: Path) -> Iterator[SimWeb]:
    with serve(WEB, log=web_log) as server:
        yield server


@pytest.fixture
def port() -> Iterator[int]:
    with reserved_port() as port:
        yield port


@pytest.fixture
def crawl(web: SimWeb, tmp_path: Path, port: int) -> Iterator[Served]:
    options = ("--delay", "250ms", "--stay", "--serve-port", str(port))
    with served(tmp_path / "out", web, *options) as running:
        yield running


@pytest.fixture
def tab(open_tab: Opener, crawl: Served) -> Tab:
    tab = open_tab()
    tab.sign_in(crawl.url, crawl.token())
    return tab


def under_way(log: Path, number: int = 150) -> None:
    until(lambda: len(requests(log)) > number, "the crawl is under way")


def test_every_page_of_a_real_crawl(tab: Tab, crawl: Served, web_log: Path):
    under_way(web_log)
    host = requests(web_log)[-1][1]
    for name in PAGES:
        tab.go(name)
        expect(tab.page.locator("main")).not_to_contain_text("could not be shown")
    tab.go("hosts")
    expect(tab.page.locator("main")).to_contain_text("40 hosts")
    tab.page.get_by_role("link", name=host).first.click()
    expect(tab.page.locator("main")).to_contain_text("from the setting politeness.delay")
    tab.go("url")
    tab.page.get_by_label("Why was this URL visited").fill(crawl.get_seed())
    tab.page.get_by_role("button", name="Ask").click()
    expect(tab.page.locator(".verdict")).to_contain_text("It was visited")
    tab.go("partitions")
    expect(tab.page.locator(".cell")).to_have_count(256)
    tab.go("nodes")
    for table, state in (("Crawl nodes", "Running"), ("Control nodes", "Leads")):
        rows = tab.page.get_by_role("table", name=table).get_by_role("row")
        expect(rows.filter(has_text="standalone")).to_contain_text(state)
    # A standalone crawl is one node: what would never work is not offered.
    for label in ("Add a node", "Remove…"):
        expect(tab.page.get_by_role("button", name=label)).to_have_count(0)
    expect(tab.page.get_by_label("Plots of standalone").locator(".plot")).to_have_count(3)
    assert tab.has_injected() == []


def test_a_longer_gap_takes_effect_on_the_crawl(tab: Tab, crawl: Served, web_log: Path):
    under_way(web_log)
    tab.go("settings")
    page = tab.page
    row = page.locator('.setting[data-name="politeness.delay"]')
    row.get_by_role("button", name="Change").click()
    page.get_by_label("New value of politeness.delay").fill("1500ms")
    row.get_by_role("button", name="Save").click()
    expect(row.locator(".setting-value")).to_have_text("1500ms")
    begun = time.time()
    gaps = until(lambda: len(found := gaps_since(web_log, begun)) > 20 and found, "second visits")
    assert min(gaps) >= 1.49
    page.get_by_role("button", name="Undo version 1").click()
    expect(row.locator(".setting-value")).to_have_text("250ms")
    undone = time.time()
    until(lambda: sum(gap < 1.4 for gap in gaps_since(web_log, undone)) > 60, "the old gap again")


def test_pause_silences_the_web_and_resume_goes_on(tab: Tab, web_log: Path):
    under_way(web_log)
    page = tab.page
    page.locator(".top").get_by_role("button", name="Pause").click()
    expect(page.locator(".notice")).to_contain_text(["Pause: confirmed by 1 node"])
    expect(page.locator(".top .pill").first).to_have_text("Paused")
    # No new visit within a second; the only way to see that nothing happens is to look for a while.
    silent = time.time() + 1.0
    until(lambda: time.time() > silent + 2.0, "a while")
    assert [row for row in requests(web_log) if row[0] > silent] == []
    page.locator(".top").get_by_role("button", name="Resume").click()
    expect(page.locator(".top .pill").first).to_have_text("Running")
    until(lambda: sum(row[0] > silent for row in requests(web_log)) > 50, "the crawl goes on")


def test_a_seed_is_submitted_and_crawled(tab: Tab, tmp_path: Path):
    log = tmp_path / "other.log"
    with serve(Options(hosts=2, pages=20, host_skew=0.0, port=0, seed=7), log=log) as other:
        tab.go("seeds")
        page = tab.page
        page.get_by_label("URLs, one on each line").fill(f"{other.url}\nno url at all")
        page.get_by_role("button", name="Submit").click()
        expect(page.locator("form")).to_contain_text("1 seed taken, 1 refused")
        page.get_by_role("link", name="See what becomes of them").click()
        row = page.get_by_role("row").filter(has_text=other.url)
        expect(row).to_contain_text("fetched (200)")
        until(lambda: len(requests(log)) >= 2, "the log has it")
        expect(page.get_by_role("row").filter(has_text="no url at all")).to_contain_text("refused")


def test_a_host_blocked_from_its_row_is_left_alone(tab: Tab, crawl: Served, web_log: Path):
    under_way(web_log)
    tab.go("hosts")
    page = tab.page
    name = page.locator("tbody tr").first.get_by_role("link").inner_text()
    page.get_by_role("button", name=f"Block {name}").click()
    row = page.get_by_role("row").filter(has=page.get_by_role("link", name=name, exact=True))
    expect(row).to_contain_text("Blocked")
    begun = crawl.settled([name])
    until(lambda: sum(moment > begun for moment, _, _ in requests(web_log)) > 100, "others")
    address = name.partition(":")[0]
    later = {host.partition(":")[0] for moment, host, _ in requests(web_log) if moment > begun}
    assert later
    assert address not in later


BAD = "<img src=x onerror=alert(1)>"
PAGE = (
    f"<title>{BAD}<script>alert(2)</script></title><h1>{BAD}</h1><a href='/next?q={BAD}'>{BAD}</a>"
).encode()
ROBOTS = f"User-agent: *\nDisallow: /{BAD}\nAllow: /?{BAD}\n".encode()


def response(kind: str, body: bytes) -> bytes:
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
    return f"{head}Connection: close\r\n\r\n".encode() + body


def test_a_hostile_page_title_and_url_stay_text(tab: Tab, crawl: Served):
    hostile = HostileServer(
        {"/robots.txt": send(response("text/plain", ROBOTS))},
        default=send(response("text/html", PAGE)),
        host="127.9.9.9",
    )
    with hostile:
        # Submitted as they are: a browser would have encoded them.
        root = hostile.url("/", host="127.9.9.9")
        seeds = [f"{root}?{BAD}", f"{root}{BAD}", f"http://{BAD}/", f"{root}p?q={BAD}"]
        tab.go("seeds")
        page = tab.page
        page.get_by_label("URLs, one on each line").fill("\n".join(seeds))
        page.get_by_role("button", name="Submit").click()
        expect(page.locator("form")).to_contain_text(f"http://{BAD}/")
        page.get_by_role("link", name="See what becomes of them").click()
        expect(page.get_by_role("row").nth(1)).to_contain_text("fetched (200)")
        expect(page.get_by_role("row").nth(1)).to_contain_text(BAD)
        assert tab.has_injected() == []
        for seed in seeds:
            tab.go("url")
            page.get_by_label("Why was this URL visited").fill(seed)
            page.get_by_role("button", name="Ask").click()
            expect(page.locator("main")).to_contain_text(f"Given{seed}")
            assert tab.has_injected() == []
        for name in ("events", "hosts", "overview"):
            tab.go(name)
            assert tab.has_injected() == []
        tab.go("hosts?search=127.9.9.9")
        page.get_by_role("link", name="127.9.9.9").click()
        expect(page.locator("h1")).to_contain_text("127.9.9.9")
        assert tab.has_injected() == []
    until(lambda: crawl.get("/status")["pages"] > 0, "the status counts pages")


def test_the_dashboard_finds_a_crawl_that_was_killed_and_resumed(
    tab: Tab, crawl: Served, port: int, web_log: Path
):
    under_way(web_log)
    mark = tab.page.locator(".live-mark")
    crawl.kill()
    expect(mark).to_have_text("reconnecting…")
    crawl.start("--serve-port", str(port), "--stay", resume=True)
    expect(mark).to_have_text("live")
    expect(tab.page.locator(".top .pill").first).to_have_text("Running")
    tab.go("events")
    expect(tab.page.locator(".events")).to_contain_text("the crawl began to work")

    def all_are_shown() -> bool:
        """Each once; others may happen meanwhile."""
        known = {event["id"] for event in crawl.get("/events")["events"]}
        return tab.page.locator(".events li").count() == len(known)

    until(all_are_shown, "every event is shown once")


def test_stop_is_asked_for_and_then_told(tab: Tab, crawl: Served, web_log: Path):
    under_way(web_log, 50)
    page = tab.page
    page.get_by_role("button", name="Stop…").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    assert crawl.process is not None
    assert crawl.process.poll() is None
    page.get_by_role("button", name="Stop…").click()
    page.get_by_role("dialog").get_by_role("button", name="Stop the crawl").click()
    assert crawl.process.wait(60) in {0, 130}
    expect(page.locator(".lost")).to_contain_text("The crawl has ended")
