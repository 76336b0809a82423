"""Who may come in, what a broken line looks like, narrow screens, the keyboard alone."""

import re
import urllib.error
import urllib.request

import pytest
from playwright.sync_api import Page, Request, expect
from tests.browser.conftest import Opener
from tests.browser.serving import ImaginedServer
from tests.browser.test_pages import SHOWN, submit
from tests.browser.watching import PAGES, Tab

from gossamer.control.api import guard, stream_routes
from gossamer.control.schemas import NodeState


@pytest.fixture
def tab(open_tab: Opener, cluster: ImaginedServer) -> Tab:
    tab = open_tab()
    tab.sign_in(cluster.served.url, cluster.served.token)
    return tab


def test_a_wrong_token_is_refused_in_words(
    open_tab: Opener, cluster: ImaginedServer, monkeypatch: pytest.MonkeyPatch
):
    # However long it takes to type.
    monkeypatch.setattr(guard, "FORGIVEN_EVERY", 3600.0)
    tab = open_tab()
    tab.expect_console("401", "429")
    page = tab.page
    page.goto(cluster.served.url)
    field = page.get_by_label("Token")
    expect(field).to_be_focused()
    expect(field).to_have_attribute("type", "password")
    field.fill("wrong" * 10)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_have_text(
        "This token is not known here. Each crawl has its own: paste the whole line of its file."
    )
    expect(page.locator("nav")).to_have_count(0)
    field.fill("no tökén at all")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("That is no token")
    for _ in range(15):
        wrong = urllib.request.Request(f"{cluster.served.url}/api/v1/access")
        wrong.add_header("Authorization", "Bearer wrong")
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(wrong, timeout=60)
        refused.value.close()
    field.fill("wrong" * 10)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("Too many wrong tokens")
    field.fill(cluster.served.token)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Overview", level=1)).to_be_visible()


def test_the_token_leaves_the_address_at_once(open_tab: Opener, cluster: ImaginedServer):
    tab = open_tab()
    sent: list[Request] = []
    tab.page.on("request", lambda request: sent.append(request))  # noqa: PLW0108
    tab.sign_in(cluster.served.url, cluster.served.token)
    assert cluster.served.token not in tab.page.url
    history: int = tab.page.evaluate("history.length")
    assert history <= 2
    # In a header of our own requests, never in an address.
    assert all(cluster.served.token not in request.url for request in sent)
    asked = [request for request in sent if "/api/" in request.url]
    assert asked
    assert {request.headers["authorization"] for request in asked} == {
        f"Bearer {cluster.served.token}"
    }
    # It stays for this tab, and only for this tab.
    tab.page.reload()
    expect(tab.page.locator("nav")).to_be_visible()
    other = open_tab()
    other.page.goto(cluster.served.url)
    expect(other.page.get_by_label("Token")).to_be_visible()
    tab.page.get_by_role("button", name="Sign out").click()
    expect(tab.page.get_by_label("Token")).to_have_value("")
    tab.page.reload()
    expect(tab.page.get_by_label("Token")).to_be_visible()


def test_a_token_to_look_offers_no_changes(open_tab: Opener, cluster: ImaginedServer):
    tab = open_tab()
    tab.sign_in(cluster.served.url, cluster.served.read_token)
    page = tab.page
    expect(page.locator(".top")).to_contain_text("read only")
    expect(page.locator(".commands")).to_contain_text("This token may look and change nothing")
    expect(page.locator(".commands button")).to_have_count(0)
    for name in PAGES:
        tab.go(name)
        for label in ("Pause", "Resume", "Remove…", "Block", "Change", "Undo", "Submit"):
            offered = page.get_by_role("button", name=re.compile(f"^{label}"), disabled=False)
            expect(offered).to_have_count(0)


def test_it_reconnects_by_itself_and_misses_nothing(tab: Tab, cluster: ImaginedServer):
    tab.go("events")
    page = tab.page
    expect(page.locator(".events li").first).to_contain_text("node west was not heard of")
    cluster.stop()
    mark = page.locator(".live-mark")
    expect(mark).to_have_text("reconnecting…")
    expect(page.locator(".lost")).to_contain_text("has not answered for")
    asked: list[Request] = []
    page.on("request", lambda request: asked.append(request) if "stream" in request.url else None)
    cluster.start()
    expect(mark).to_have_text("live")
    expect(page.locator(".lost")).to_be_hidden()
    assert any("last-event-id" in request.headers for request in asked)
    # What the server told when it began anew came too, each once.
    expect(page.locator(".events li")).to_have_count(10)
    cluster.tell("node east joined at last")
    expect(page.locator(".events li").first).to_contain_text("joined at last")
    texts = page.locator(".events li").all_inner_texts()
    assert len(texts) == 11


def test_a_server_with_other_tokens_asks_for_them(tab: Tab, cluster: ImaginedServer):
    tab.expect_console("401")
    cluster.stop()
    for name in ("token", "token-read"):
        (cluster.directory / name).unlink()
    cluster.start()
    expect(tab.page.get_by_role("alert")).to_contain_text("not taken any more")
    expect(tab.page.get_by_label("Token")).to_be_visible()


@pytest.mark.parametrize("width", [320, 390])
def test_a_phone_needs_no_sideways_scrolling(open_tab: Opener, cluster: ImaginedServer, width: int):
    tab = open_tab(width=width, height=700)
    page = tab.page
    page.goto(cluster.served.url)
    expect(page.get_by_label("Token")).to_be_visible()
    assert tab.sideways() <= 0
    tab.sign_in(cluster.served.url, cluster.served.token)
    submit(tab, f"http://example.org/{'long' * 500}", "x" * 3000)
    for name, heading in SHOWN:
        tab.go(name, heading)
        expect(page.locator("main")).not_to_contain_text("could not be shown")
        page.wait_for_timeout(400)
        assert tab.sideways() <= 0, (name, tab.beyond())
        assert tab.beyond() == [], name
    tab.go("settings")
    page.get_by_role("button", name="Change scope.skip_suffixes").click()
    assert tab.sideways() <= 0
    tab.go("hosts/museum-000.example.org", "museum-000.example.org")
    page.get_by_role("button", name="Forget…").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    assert tab.sideways() <= 0


def press_until(page: Page, wanted: str, most: int = 60) -> None:
    """Goes on with the tab key until the element with this text or label has the focus."""
    script = """(one) => (one.getAttribute("aria-label") ?? (one.labels?.[0]?.textContent
        || one.textContent)).trim()"""
    for _ in range(most):
        page.keyboard.press("Tab")
        focused = page.locator(":focus")
        if focused.count() and focused.evaluate(script).startswith(wanted):
            return
    pytest.fail(f"the tab key does not lead to {wanted}")


def test_the_keyboard_is_enough(open_tab: Opener, cluster: ImaginedServer):
    tab = open_tab()
    page = tab.page
    page.goto(cluster.served.url)
    expect(page.get_by_label("Token")).to_be_focused()
    page.keyboard.type(cluster.served.token)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Overview", level=1)).to_be_visible()
    # The first stop is the way past the navigation, and the focus can be seen.
    page.keyboard.press("Tab")
    skip = page.locator(":focus")
    expect(skip).to_have_text("Skip to the page")
    expect(skip).to_be_in_viewport()
    outline: str = skip.evaluate("(one) => getComputedStyle(one).outlineStyle")
    assert outline == "solid"
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    # To the settings and a change, without the mouse.
    page.keyboard.press("Shift+Tab")
    page.locator("body").press("Home")
    page.reload()
    expect(page.get_by_role("heading", name="Overview", level=1)).to_be_visible()
    press_until(page, "Settings")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Settings", level=1)).to_be_focused()
    row = page.locator('.setting[data-name="politeness.per_host"]')
    expect(row).to_be_visible()
    press_until(page, "Find")
    page.keyboard.type("per_host")
    press_until(page, "Change politeness.per_host")
    page.keyboard.press("Enter")
    expect(page.get_by_label("New value of politeness.per_host")).to_be_focused()
    page.keyboard.press("Control+a")
    page.keyboard.type("2")
    page.keyboard.press("Enter")
    expect(row.locator(".setting-value")).to_have_text("2 connections")
    # The focus is where it was before, not lost.
    expect(row.get_by_role("button", name="Change")).to_be_focused()
    # A question: the harmless answer has the focus, Escape is a no, the focus comes back.
    page.evaluate("location.hash = '#/nodes'")
    for table in ("Crawl nodes", "Control nodes"):
        rows = page.get_by_role("table", name=table).get_by_role("row")
        expect(rows.nth(1)).to_be_visible()
    press_until(page, "Remove…")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()
    expect(page.get_by_role("button", name="Cancel")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.locator(":focus")).to_have_text("Remove…")


def test_focus_and_presses_survive_the_next_reading(tab: Tab, cluster: ImaginedServer):
    tab.go("nodes")
    page = tab.page
    pause = page.get_by_role("row").filter(has_text="south").get_by_role("button", name="Pause")
    pause.hover()
    page.mouse.down()
    # Two readings are shown while the button is held.
    east = page.get_by_role("row").filter(has_text="east")
    for state, words in ((NodeState.LEAVING, "Leaving"), (NodeState.RUNNING, "Running")):
        cluster.cluster.node_states["east"] = state
        expect(east).to_contain_text(words)
    page.mouse.up()
    expect(page.get_by_role("row").filter(has_text="south")).to_contain_text("Paused")
    assert ("node", "south", "pause") in cluster.cluster.asked


def test_every_table_and_field_has_a_name(tab: Tab):
    for name, heading in SHOWN:
        if name == "seeds/1":
            continue
        tab.go(name, heading)
        tab.page.wait_for_timeout(300)
        nameless: list[str] = tab.page.evaluate(
            """() => [
                ...[...document.querySelectorAll("main input, main select, main textarea")]
                    .filter((one) => !one.labels?.length && !one.getAttribute("aria-label")),
                ...[...document.querySelectorAll("button")].filter((one) => !one.textContent.trim()),
                ...[...document.querySelectorAll("table")]
                    .filter((one) => !one.caption || !one.querySelector("th[scope=col]")),
            ].map((one) => one.outerHTML.slice(0, 200))"""
        )
        assert nameless == [], name


def test_a_refused_stream_is_told_in_words(
    open_tab: Opener, cluster: ImaginedServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(stream_routes, "STREAMS", 0)
    tab = open_tab()
    tab.expect_console("409")
    page = tab.page
    page.goto(f"{cluster.served.url}/#token={cluster.served.token}")
    expect(page.locator(".lost")).to_contain_text("There are no live updates: 0 streams are open")
    # Pages that ask for themselves go on.
    tab.go("nodes")
    for table in ("Crawl nodes", "Control nodes"):
        rows = page.get_by_role("table", name=table).get_by_role("row")
        expect(rows.nth(1)).to_be_visible()
    monkeypatch.undo()
    expect(page.locator(".live-mark")).to_have_text("live")
    expect(page.locator(".lost")).to_be_hidden()
