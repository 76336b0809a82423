"""Numbers, sizes, times and ticks as the dashboard writes them; run in the browser that shows them."""

import itertools
from typing import Any

import pytest
from playwright.sync_api import Page
from tests.browser.conftest import Opener
from tests.browser.serving import ImaginedServer

HOUR, DAY = 3600, 86_400


@pytest.fixture
def page(open_tab: Opener, cluster: ImaginedServer) -> Page:
    tab = open_tab()
    tab.page.goto(cluster.served.url)
    return tab.page


def call(page: Page, module: str, name: str, *values: object) -> Any:
    return page.evaluate(
        """async ([module, name, values]) =>
            (await import(`/static/${module}.js`))[name](...values)""",
        [module, name, list(values)],
    )


def test_numbers_sizes_and_times(page: Page):
    wanted: list[tuple[str, list[Any], str]] = [
        ("count", [1_234_567], "1,234,567"),
        ("count", [None], "\u2013"),
        ("counted", [1, "page"], "1 page"),
        ("counted", [0, "page"], "0 pages"),
        ("large", [999_999_999], "999,999,999"),
        ("large", [3_804_000_000], "3.804 billion"),
        ("figure", [0.4211], "0.42"),
        ("figure", [12.34], "12.3"),
        ("figure", [1234.5], "1,235"),
        ("short", [12_300], "12.3 k"),
        ("short", [2_500_000], "2.5 M"),
        ("bytes", [0], "0 B"),
        ("bytes", [999], "999 B"),
        ("bytes", [12_345_678], "11.8 MiB"),
        ("bytes", [1_048_000], "1,023 KiB"),
        ("bytes", [1_048_576], "1 MiB"),
        ("bytes", [1.5 * 2**50], "1.5 PiB"),
        ("span", [0], "0 s"),
        ("span", [0.25], "250 ms"),
        ("span", [1], "1 s"),
        ("span", [59.6], "1 min"),
        ("span", [200], "3 min 20 s"),
        ("span", [4 * HOUR + 300], "4 h 5 min"),
        ("span", [3 * DAY + 2 * HOUR], "3 d 2 h"),
        ("span", [None], "\u2013"),
        ("relative", [100, 112], "12 s ago"),
        ("relative", [112.2, 100], "in 13 s"),
        ("relative", [100, 100.4], "now"),
        ("words", ["dns_not_found"], "DNS not found"),
        ("percent", [1, 3], "33.3 %"),
        ("percent", [1, 100_000], "< 0.1 %"),
        ("percent", [0, 0], "\u2013"),
        ("value", [None], "absent"),
        ("value", [True], "yes"),
        ("value", [[]], "none"),
        ("value", [["a", "b"]], "a, b"),
        ("value", [{"a.example": "5s"}], "a.example = 5s"),
    ]
    found = [(name, values, call(page, "format", name, *values)) for name, values, _ in wanted]
    assert found == wanted


def test_ticks_are_round_and_reach_the_top(page: Page):
    for highest in (0.03, 1, 2.1, 7, 9, 10, 99, 100, 101, 618, 4_264_291, 1e12):
        ticks = call(page, "plot", "niceTicks", highest)
        steps = {round(b - a, 9) for a, b in itertools.pairwise(ticks)}
        assert ticks[0] == 0
        assert ticks[-1] >= highest * 0.999
        assert 2 <= len(ticks) <= 6
        assert all(float(tick).is_integer() for tick in ticks), "half a URL is none"
        assert max(steps) - min(steps) < max(steps) * 1e-6


def test_ticks_of_sizes_are_round_in_their_unit(page: Page):
    kib, mib = 1024, 1024**2
    wanted = {900: [0, 250, 500, 750, 1000], 3 * kib: [0, kib, 2 * kib, 3 * kib]}
    wanted[5 * mib] = [0, 2 * mib, 4 * mib, 6 * mib]
    for highest, ticks in wanted.items():
        assert call(page, "plot", "niceTicks", highest, 1024) == ticks


def test_what_cannot_be_seen_is_written_out(page: Page):
    assert call(page, "dom", "plain", "a\u202eb\x00c\u200d") == "a⟨U+202E⟩b⟨U+0000⟩c\u200d"
