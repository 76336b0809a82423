"""Every page, on an imagined cluster behind the real API."""

import re
from datetime import datetime, timedelta

import pytest
from playwright.sync_api import Route, expect
from tests.browser.conftest import Opener
from tests.browser.imagined import DOUBTED, HOSTILE
from tests.browser.serving import ImaginedServer
from tests.browser.watching import PAGES, Tab
from tests.control.serving import until

from gossamer.policy.hosts.outcomes import REACTIONS

SHOWN = [
    *((page, heading) for page, heading in PAGES.items()),
    ("hosts/museum-000.example.org", "museum-000.example.org"),
    ("url?u=http%3A%2F%2Fmuseum.example.org%2F", "URL"),
    ("seeds/1", "Submission 1"),
]


@pytest.fixture
def tab(open_tab: Opener, cluster: ImaginedServer) -> Tab:
    tab = open_tab()
    served = cluster.served
    tab.sign_in(served.url, served.token)
    return tab


def submit(tab: Tab, *urls: str) -> None:
    tab.go("seeds")
    tab.page.get_by_label("URLs, one on each line").fill("\n".join(urls))
    tab.page.get_by_role("button", name="Submit").click()
    expect(tab.page.get_by_role("link", name="See what becomes of them")).to_be_visible()


@pytest.mark.parametrize("dark", [False, True])
def test_each_page_loads_and_nothing_is_refused(
    open_tab: Opener, cluster: ImaginedServer, dark: bool
):
    tab = open_tab(dark=dark)
    tab.sign_in(cluster.served.url, cluster.served.token)
    submit(tab, "http://example.org/", "no url")
    for page, heading in SHOWN:
        tab.go(page, heading)
        expect(tab.page.locator("main")).not_to_contain_text("could not be shown")
        assert tab.has_injected() == []


def test_the_overview_shows_figures_plots_and_alerts(tab: Tab):
    page = tab.page
    expect(page.locator(".tile").filter(has_text="URLs known")).to_contain_text(
        re.compile(r"4,\d\d\d,")
    )
    expect(page.locator(".alert-critical")).to_contain_text("node west was not heard of")
    plots = page.locator("svg.plot")
    expect(plots).to_have_count(6)
    for at in range(6):
        expect(plots.nth(at)).to_have_attribute("aria-label", re.compile(r"over time.*\d"))
        expect(plots.nth(at).locator(".tick").nth(4)).to_be_attached()
    line = plots.nth(0).locator("path.line")
    # First what is now, then the past when it is loaded.
    expect(line).to_have_attribute("d", re.compile("(?:L[^L]*){51}"))
    drawn = line.get_attribute("d")
    assert drawn is not None
    # Time goes on: the picture changes by itself.
    expect(line).not_to_have_attribute("d", drawn)
    tab.choose_range("1 h")
    expect(plots.nth(0).locator(".tick").last).to_have_text(re.compile(r"\d\d:\d\d"))


def test_nodes_are_paused_and_removed_after_a_question(tab: Tab, cluster: ImaginedServer):
    tab.go("nodes")
    page = tab.page
    row = page.get_by_role("row").filter(has_text="east")
    row.get_by_role("button", name="Pause").click()
    expect(row).to_contain_text("Paused")
    row.get_by_role("button", name="Resume").click()
    expect(row).to_contain_text("Running")
    row.get_by_role("button", name="Remove…").click()
    question = page.get_by_role("dialog")
    expect(question).to_contain_text("Remove node east?")
    question.get_by_role("button", name="Cancel").click()
    expect(question).to_have_count(0)
    assert ("node", "east", "remove") not in cluster.cluster.asked
    row.get_by_role("button", name="Remove…").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove the node").click()
    expect(row).to_contain_text("Leaving")
    page.get_by_role("button", name="Add a node").click()
    expect(page.locator(".notice")).to_contain_text(["Add a node: confirmed by 4 nodes"])


def test_control_nodes_are_a_table_of_text(tab: Tab):
    tab.go("nodes")
    table = tab.page.get_by_role("table", name="Control nodes")
    rows = table.get_by_role("row")
    expect(rows).to_have_count(4)
    expect(rows.nth(1)).to_contain_text(
        re.compile(r"control-1.*version 0\.1\.0.*Leads.*https://crawl\.example\.org:8780")
    )
    expect(rows.nth(2)).to_contain_text("Waits in reserve")
    expect(rows.nth(3)).to_contain_text(re.compile(r"onerror.*Lost.*1 h 6 min ago"))
    expect(table.get_by_role("link")).to_have_count(0)


def test_partitions_are_a_map_with_moves(tab: Tab):
    tab.go("partitions")
    page = tab.page
    expect(page.locator(".cell")).to_have_count(256)
    expect(page.locator(".cell.moving")).to_have_count(12)
    expect(page.locator("main")).to_contain_text(
        "12 partitions move now. 1 partition has no owner."
    )
    page.locator("svg.map").focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft"):
        page.keyboard.press(key)
    expect(page.locator(".readout")).to_contain_text("Partition 0: north")
    # What is chosen is an option of a list, as readers know it.
    cells = page.get_by_role("listbox", name="Map of 256 partitions")
    expect(cells).to_have_attribute("aria-activedescendant", "cell-0")
    expect(cells.get_by_role("option", selected=True)).to_have_attribute(
        "aria-label", re.compile(r"^Partition 0: north, [\d,]+ hosts?, [\d,]+ URLs? queued, ")
    )
    page.locator(".cell").nth(200).hover()
    expect(page.locator(".readout")).to_contain_text("Partition 200: nobody, moving to north")


def test_hosts_are_sorted_searched_and_turned_over(tab: Tab, cluster: ImaginedServer):
    tab.go("hosts")
    page = tab.page
    expect(page.locator("main")).to_contain_text("1\u201350 of 137 hosts")
    page.get_by_role("button", name="Next", exact=True).click()
    expect(page.locator("main")).to_contain_text("51\u2013100 of 137 hosts")
    page.get_by_role("button", name="Previous").click()
    expect(page.locator("main")).to_contain_text("1\u201350 of 137 hosts")
    page.get_by_label("Search").fill("museum")
    expect(page.locator("main")).to_contain_text("18 hosts that match, of 137 known")
    page.get_by_label("Order").select_option("errors")
    page.get_by_label("State").select_option("blocked")
    expect(page.get_by_role("row")).to_have_count(7)
    assert any(one[:3] == ("hosts", "errors", "museum") for one in cluster.cluster.asked)
    # The address holds the question, so that it can be kept or passed on.
    assert "search=museum" in page.url
    page.get_by_label("Search").fill("nobody has this")
    expect(page.locator(".empty")).to_contain_text("No host matches")


def test_a_host_is_blocked_slowed_set_aside_and_forgotten(tab: Tab, cluster: ImaginedServer):
    name = "museum-000.example.org"

    def told() -> list[tuple[object, ...]]:
        return [one[2:] for one in cluster.cluster.asked if one[0] == "host"]

    tab.go(f"hosts/{name}", name)
    page = tab.page
    page.get_by_role("button", name="Block", exact=True).click()
    expect(page.get_by_role("button", name="Unblock")).to_be_visible()
    page.get_by_role("button", name="Slow down…").click()
    question = page.get_by_role("dialog")
    question.get_by_label("Least time between two visits").fill("7.5")
    question.get_by_role("button", name="Slow down").click()
    expect(question).to_have_count(0)
    until(lambda: ("slow_down", 7.5) in told(), "it is told")
    page.get_by_role("button", name="Set aside…").click()
    page.get_by_role("dialog").get_by_label("No visit for so many minutes").fill("90")
    page.get_by_role("dialog").get_by_role("button", name="Set aside").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    until(lambda: ("set_aside", 5400.0) in told(), "it is told")
    page.get_by_role("button", name="Forget…").click()
    expect(page.get_by_role("dialog")).to_contain_text("leave the queue")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert ("host", name, "forget", None) not in cluster.cluster.asked
    page.get_by_role("button", name="Forget…").click()
    page.get_by_role("dialog").get_by_role("button", name="Forget the host").click()
    expect(page.locator(".notice").last).to_contain_text("Forget: museum-000.example.org was told")
    assert told() == [("block", None), ("slow_down", 7.5), ("set_aside", 5400.0), ("forget", None)]


def test_settings_are_changed_refused_in_words_and_undone(tab: Tab):
    tab.go("settings")
    tab.expect_console("422", "409")
    page = tab.page
    page.get_by_label("Find").fill("politeness.delay")
    row = page.locator('.setting[data-name="politeness.delay"]')
    expect(row).to_contain_text("Shortest gap between visits to a host")
    expect(row).to_contain_text("0 s to 3650 d")
    row.get_by_role("button", name="Change politeness.delay").click()
    field = page.get_by_label("New value of politeness.delay")
    field.fill("soon")
    row.get_by_role("button", name="Save").click()
    expect(row.get_by_role("alert")).to_contain_text("a time expected")
    field.fill("3s")
    row.get_by_role("button", name="Save").click()
    expect(row.locator(".setting-value")).to_have_text("3s")
    expect(row).to_contain_text("default: 1s")
    expect(page.locator(".notice").first).to_contain_text("applied by north, east, south")
    changes = page.get_by_role("complementary", name="Changes")
    expect(changes).to_contain_text("politeness.delay: 1s → 3s")
    expect(changes).to_contain_text("by operate:")
    changes.get_by_role("button", name="Undo version 1").click()
    expect(row.locator(".setting-value")).to_have_text("1s")
    expect(changes).to_contain_text("undoes version 1")


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("scope.block", "a.example\nb.example", "a.example, b.example"),
        ("politeness.overrides", "a.example = 5s\nb.example:81 = 1m", "a.example = 5s"),
        ("limits.pages", "1,000,000", "1,000,000 pages"),
        ("limits.pages", "", "absent"),
        ("scope.kind", "domain", "domain"),
        ("scope.forms", "on", "yes"),
        ("fetch.max_body", "2MiB", "2MiB"),
        ("alias.differences", "0.125", "0.125 share"),
    ],
)
def test_every_kind_of_setting_can_be_written(tab: Tab, name: str, value: str, shown: str):
    tab.go("settings")
    page = tab.page
    row = page.locator(f'.setting[data-name="{name}"]')
    row.get_by_role("button", name=f"Change {name}", exact=True).click()
    field = page.get_by_label(f"New value of {name}", exact=True)
    kind = field.evaluate("(one) => one.type")
    if kind == "checkbox":
        field.check()
    elif kind == "select-one":
        field.select_option(value)
    else:
        field.fill(value)
    row.get_by_role("button", name="Save").click()
    expect(page.locator("form.editor")).to_have_count(0)
    expect(row.locator(".setting-value")).to_contain_text(shown)


def test_a_change_of_another_in_between_is_not_overwritten(open_tab: Opener, tab: Tab, cluster):
    other = open_tab()
    other.sign_in(cluster.served.url, cluster.served.token, "settings")
    tab.go("settings")
    tab.expect_console("409")
    name = "politeness.per_host"
    row = tab.page.locator(f'.setting[data-name="{name}"]')
    row.get_by_role("button", name="Change").click()
    tab.page.get_by_label(f"New value of {name}").fill("2")
    theirs = other.page.locator(f'.setting[data-name="{name}"]')
    theirs.get_by_role("button", name="Change").click()
    other.page.get_by_label(f"New value of {name}").fill("3")
    theirs.get_by_role("button", name="Save").click()
    # What was typed is still there when the other's change arrives.
    expect(row.locator(".setting-value")).to_contain_text("3 connections")
    row.get_by_role("button", name="Save").click()
    expect(row.get_by_role("alert")).to_contain_text("version 1 by now")


def test_seeds_are_submitted_and_their_fates_shown(tab: Tab):
    submit(tab, "# a comment", "http://example.org/a", "", "not a url", "http://example.org/b")
    page = tab.page
    expect(page.locator("form")).to_contain_text("2 seeds taken, 1 refused")
    expect(page.locator("form")).to_contain_text("not a url: no scheme")
    page.get_by_role("link", name="See what becomes of them").click()
    rows = page.get_by_role("row")
    expect(rows).to_have_count(4)
    expect(rows.nth(1)).to_contain_text("fetched (200)")
    expect(rows.nth(2)).to_contain_text("refused")
    rows.nth(1).get_by_role("link").click()
    expect(page.get_by_label("Why was this URL visited")).to_have_value("http://example.org/a")
    expect(page.locator(".verdict")).to_have_text(
        "It is queued: 12 URLs of its host are before it."
    )


def test_events_come_by_themselves(tab: Tab, cluster: ImaginedServer):
    tab.go("events")
    page = tab.page
    expect(page.locator(".events li")).to_have_count(5)
    other_hosts = page.locator(".events li").first
    cluster.tell("node east joined again")
    expect(other_hosts).to_contain_text("node east joined again")
    page.get_by_label("Show").select_option("nodes")
    expect(page.locator(".events li")).to_have_count(4)


def test_what_a_command_came_to_is_told(tab: Tab):
    tab.expect_console("409")
    page = tab.page
    page.get_by_role("button", name="Checkpoint now").click()
    expect(page.get_by_role("alert")).to_contain_text("not confirmed by west")
    page.get_by_role("button", name="Re-rank now").click()
    expect(page.get_by_role("alert")).to_contain_text("A ranking is under way; wait for its end.")


def test_hostile_names_stay_text(tab: Tab, cluster: ImaginedServer):
    submit(tab, f"http://example.org/{HOSTILE}", HOSTILE)
    cluster.tell(HOSTILE)
    for page, heading in [*SHOWN, ("hosts?search=onerror", "Hosts")]:
        tab.go(page, heading)
        if page.startswith(("url?", "seeds", "events", "hosts?")):
            expect(tab.page.locator("main")).to_contain_text('<img src=x onerror="alert(1)">')
        assert tab.has_injected() == []
    # A mark that turns the direction of text is written out, not obeyed.
    name = tab.page.get_by_role("link", name="onerror")
    expect(name).to_contain_text("⟨U+202E⟩<script>")
    expect(name.locator("bdi")).to_have_css("unicode-bidi", "isolate")
    name.click()
    expect(tab.page.locator("h1")).to_contain_text("<img src=x onerror")
    expect(tab.page.get_by_role("button", name="Forget…")).to_be_visible()
    assert tab.has_injected() == []


def test_outcomes_have_their_meaning(tab: Tab):
    tab.go("overview")
    row = tab.page.locator(".totals th[scope=row]").filter(has_text="fetched")
    expect(row).to_have_attribute("title", REACTIONS["fetched"].meaning)


def test_urls_that_bring_nothing_new_are_shown_and_taken_up(
    open_tab: Opener, cluster: ImaginedServer
):
    tab = open_tab()
    tab.sign_in(cluster.served.url, cluster.served.token)
    page = tab.page
    card = page.locator(".card").filter(has_text="URLs that bring nothing new")
    # On the overview: the worst of all hosts, each with a way to its host.
    expect(card.get_by_role("row")).to_have_count(1 + len(DOUBTED))
    expect(page.locator(".tile").filter(has_text="URLs known")).to_contain_text("48,213 set aside")
    assert tab.has_injected() == []
    card.get_by_role("link", name="museum-000.example.org").first.click()
    row = card.get_by_role("row").filter(has_text="/wiki/*?action=edit")
    expect(row).to_contain_text("31,402")
    expect(row).to_contain_text("of 12 visits 11 noindex")
    expect(card.get_by_role("row")).to_have_count(3)
    # By the keyboard alone.
    row.get_by_role("button", name="Take up").focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("31,402 URLs like /wiki/*?action=edit will be visited")
    dialog.get_by_role("button", name="Take up").press("Enter")
    expect(page.locator(".notice.done")).to_contain_text("31,402 URLs")
    expect(row).to_have_count(0)
    asked = ("take_up", "museum-000.example.org", "/wiki/*?action=edit")
    assert asked in cluster.cluster.asked
    # A host without such URLs has no such card.
    tab.go("hosts/library-002.example.org", "library-002.example.org")
    expect(page.get_by_role("heading", name="Whose turn")).to_be_visible()
    expect(card).to_be_hidden()


def test_parameters_that_change_nothing_are_shown_and_kept(
    open_tab: Opener, cluster: ImaginedServer
):
    tab = open_tab()
    tab.sign_in(cluster.served.url, cluster.served.token)
    page = tab.page
    card = page.locator(".card").filter(has_text="Parameters that change nothing")
    row = card.get_by_role("row").filter(has_text="**?ref")
    expect(row).to_contain_text("the same page under 9 values")
    assert tab.has_injected() == []
    row.get_by_role("link", name="museum-000.example.org").click()
    row.get_by_role("button", name="Keep").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("The parameter ref stays in the URLs of museum-000.example.org")
    dialog.get_by_role("button", name="Keep").click()
    expect(page.locator(".notice.done")).to_contain_text("7 URLs")
    expect(row).to_contain_text("stays, by command")
    assert ("take_up", "museum-000.example.org", "?ref") in cluster.cluster.asked


def test_the_page_of_a_url_tells_its_evidence(open_tab: Opener, cluster: ImaginedServer):
    tab = open_tab(width=375, height=812)
    tab.sign_in(cluster.served.url, cluster.served.token)
    tab.go("url?u=http%3A%2F%2Fmuseum.example.org%2F", "URL")
    card = tab.page.locator(".card").filter(has_text="Canonical form")
    for words in (
        "of 12 visits 11 noindex", "set aside, 31,402 URLs of its pattern", "changes nothing, so links lose it",
        "without ref it is", "its host answers a missing name", "says noindex to robots; 14 not followed: other site",
    ):  # fmt: skip
        expect(card).to_contain_text(words)
    assert tab.has_injected() == []
    assert tab.sideways() <= 0


def test_hosts_that_wait_say_why(tab: Tab):
    tab.go("overview")
    card = tab.page.locator(".card").filter(has_text="Hosts that wait")
    rows = card.locator("tbody").get_by_role("row")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text("212")
    expect(rows.first).to_contain_text("in 1")
    expect(rows.first.get_by_role("link", name="away.example")).to_be_visible()
    expect(rows.last).to_contain_text("throttled")


def test_who_may_only_look_is_offered_no_taking_up(open_tab: Opener, cluster: ImaginedServer):
    tab = open_tab(width=375, height=812)
    tab.sign_in(cluster.served.url, cluster.served.read_token)
    tab.go("hosts/museum-000.example.org", "museum-000.example.org")
    card = tab.page.locator(".card").filter(has_text="URLs that bring nothing new")
    expect(card).to_contain_text("/calendar/{date}")
    expect(card.get_by_role("button")).to_have_count(0)
    assert tab.sideways() <= 0


def test_what_fails_has_its_name_and_its_way_to_the_hosts(tab: Tab, cluster: ImaginedServer):
    tab.go("overview")
    page = tab.page
    plot = page.locator(".plot-card").filter(has_text="Outcomes")
    for name in ("timed out", "server failed", "throttled"):
        swatch = plot.locator(".legend li").filter(has_text=name).locator(".swatch")
        expect(swatch).to_have_class(re.compile(r"swatch c(6|7|8)$"))
    alert = page.locator(".alert").filter(has_text="set aside")
    alert.get_by_role("link", name="Show these hosts").click()
    expect(page.get_by_label("State")).to_have_value("set_aside")
    tab.go("overview")
    row = page.locator(".totals tr").filter(has_text="timed out")
    row.get_by_role("link", name="hosts").click()
    expect(page.get_by_label("Last failure")).to_have_value("timed_out")
    until(lambda: ("failure", "timed_out") in cluster.cluster.asked, "the hosts are asked for")


def test_heads_of_tables_sort_and_rows_have_one_line(tab: Tab, cluster: ImaginedServer):
    tab.go("hosts")
    page = tab.page
    page.get_by_role("button", name="Errors").click()
    expect(page.get_by_label("Order")).to_have_value("errors")
    expect(page.get_by_role("columnheader", name="Errors")).to_have_attribute(
        "aria-sort", "descending"
    )
    page.get_by_role("button", name="Host", exact=True).click()
    expect(page.get_by_role("columnheader", name="Host")).to_have_attribute(
        "aria-sort", "ascending"
    )
    heights = page.evaluate(
        "() => [...document.querySelectorAll('tbody tr')].map((one) => one.clientHeight)"
    )
    assert max(heights) < 40, heights
    tab.go("nodes")
    first = page.get_by_role("table", name="Crawl nodes").locator("tbody tr").first
    page.get_by_role("button", name="Pages").click()
    expect(first).to_contain_text("west")
    page.get_by_role("button", name="Pages").click()
    expect(first).to_contain_text("north")


def test_pause_is_not_offered_while_paused(tab: Tab):
    tab.go("overview")
    commands = tab.page.locator(".commands")
    resume = commands.get_by_role("button", name="Resume")
    pause = commands.get_by_role("button", name="Pause")
    expect(resume).to_be_disabled()
    pause.click()
    expect(pause).to_be_disabled()
    expect(commands).to_contain_text("The crawl is paused")
    resume.click()
    expect(pause).to_be_enabled()


def test_the_fetch_log_is_filtered_and_goes_on_with_older_visits(tab: Tab, cluster: ImaginedServer):
    tab.go("log?outcome=timed_out", "Fetch log")
    page = tab.page
    rows = page.get_by_role("table", name="Visits").locator("tbody tr")
    expect(rows).to_have_count(50)
    expect(rows.first).to_contain_text("timed out")
    page.get_by_role("button", name="Older").click()
    expect(rows).to_have_count(100)
    expect(page.get_by_role("button", name="Older")).to_be_hidden()
    page.get_by_label("Host").fill("Museum-000.example.org")
    page.get_by_label("Status").fill("404")

    def asked() -> bool:
        wanted = {"outcome": "timed_out", "host": "museum-000.example.org", "status": 404}
        return any(
            one[0] == "visits" and wanted.items() <= one[1].items() for one in cluster.cluster.asked
        )

    until(asked, "the log is asked")
    # The address holds the question, so that it can be kept or passed on.
    assert "outcome=timed_out" in page.url
    page.get_by_label("Outcome").select_option("tls_failed")
    expect(page.locator(".empty")).to_contain_text("None in the recent part of the log")
    page.get_by_label("Time").select_option("range")
    page.get_by_label("From").fill("2026-11-17T10:00:00")
    until(lambda: cluster.cluster.asked[-1][1].get("since"), "with a time")


def test_a_host_shows_its_visits_failures_queue_and_robots_file(tab: Tab):
    name = "museum-000.example.org"
    tab.go(f"hosts/{name}", name)
    page = tab.page
    expect(page.get_by_role("table", name="Recent visits").locator("tbody tr")).to_have_count(100)
    failed = page.locator(".card").filter(has_text="Recent failures")
    expect(failed.locator("li")).to_have_count(8)
    expect(page.locator(".card").filter(has_text="Next in its queue").locator("li")).to_have_count(
        20
    )
    expect(page.locator(".robots-text")).to_contain_text("Disallow: /private")
    expect(page.locator(".robots-text")).to_contain_text("\u27e8U+202E\u27e9<script>")
    plot = page.locator(".plot-card").filter(has_text="Time to answer").locator("svg")
    expect(plot).to_have_attribute("aria-label", re.compile(r"average [\d.]+ ms"))
    assert tab.has_injected() == []


def test_a_url_has_its_history_and_its_stored_page_as_text(tab: Tab):
    tab.go("url?u=http%3A%2F%2Fmuseum.example.org%2F", "URL")
    page = tab.page
    expect(page.locator("main")).to_contain_text("in gossamer-20261117-00007-ab.warc.gz at byte")
    expect(page.get_by_role("table", name="Visits").locator("tbody tr")).to_have_count(20)
    page.get_by_role("button", name="Show what is stored").click()
    stored = page.locator(".stored").last
    expect(stored).to_contain_text("<script>alert(3)</script>")
    expect(page.locator("main")).to_contain_text("Only its beginning is shown")
    assert tab.has_injected() == []


def test_settings_have_an_index_that_jumps(tab: Tab):
    tab.go("settings")
    page = tab.page
    index = page.get_by_role("navigation", name="Sections")
    index.get_by_role("button", name="Politeness").click()
    head = page.locator('section[data-stage="politeness"] h2')
    expect(head).to_be_focused()
    expect(head).to_be_in_viewport()
    page.get_by_label("Find").fill("politeness.delay")
    expect(index.get_by_role("button")).to_have_text(["Politeness"])


def test_plots_show_any_part_of_the_time_that_is_kept(tab: Tab):
    tab.go("overview")
    page = tab.page
    # What the fields begin with, half an hour or all that is known, is shown at once.
    with page.expect_request(re.compile(r"/history\?seconds=\d{2,4}$")) as asked:
        tab.choose_range("Custom…")
    assert int(asked.value.url.rpartition("=")[2]) not in {600, 3600, 21600}
    page.get_by_label("From").fill("2020-01-01T00:00:00")
    page.get_by_label("To", exact=True).fill("2020-01-02T00:00:00")
    expect(page.locator(".custom-range .problem")).to_contain_text("Nothing is known before 20")
    begin = datetime.now() - timedelta(minutes=8)  # noqa: DTZ005  as the field takes it
    page.get_by_label("From").fill(begin.strftime("%Y-%m-%dT%H:%M:%S"))
    page.get_by_label("To", exact=True).fill(
        (begin + timedelta(minutes=4)).strftime("%Y-%m-%dT%H:%M:%S")
    )
    expect(page.locator(".custom-range .problem")).to_be_hidden()
    line = page.locator(".plot").nth(0).locator("path.line")
    expect(line).to_have_attribute("d", re.compile("(?:L[^L]*){51}"))
    expect(page.locator(".plot").nth(0).locator(".tick").last).to_have_text(
        re.compile(rf"{(begin + timedelta(minutes=4)).strftime('%H:%M')}|{begin.strftime('%H')}:")
    )


def test_a_range_is_judged_also_when_the_past_is_slow_to_come(tab: Tab):
    page = tab.page
    held: list[Route] = []
    page.route(re.compile(r"/history\?"), lambda route, _: held.append(route))
    with page.expect_request(re.compile(r"/history\?seconds=600$")):
        tab.go("overview")
    tab.choose_range("Custom…")
    page.get_by_label("From").fill("2020-01-01T00:00:00")
    page.get_by_label("To", exact=True).fill("2020-01-02T00:00:00")
    while len(held) < 4:  # the first, that of the fields as they begin, and one for each
        page.wait_for_timeout(20)
    # The last to be asked for comes first, as it may.
    for route in reversed(held):
        with page.expect_response(route.request.url):
            route.continue_()
    expect(page.locator(".custom-range .problem")).to_contain_text("Nothing is known before 20")
    expect(page.locator(".plot").nth(0).locator("path.line[d*=L]")).to_have_count(0)


def test_each_node_has_plots_and_the_overview_the_inner_sizes(tab: Tab):
    tab.go("nodes")
    page = tab.page
    plots = page.get_by_label("Plots of east").locator(".plot")
    expect(plots).to_have_count(3)
    expect(plots.first).to_have_attribute("aria-label", re.compile(r"Pages over time. average \d"))
    tab.go("overview")
    inside = page.locator(".card").filter(has_text="Inside the nodes")
    expect(inside).to_contain_text("52,000 names, 93.1 % of 1,000,000 questions answered by it")
    expect(inside).to_contain_text("a look-up took 34 ms on average")
