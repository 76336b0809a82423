"""The live view: lines without a terminal, a panel that fits the terminal it is drawn on."""

import io
import time
from collections.abc import Iterator

import pytest
from rich.console import Console
from tests.cli.readings import host, progress

from gossamer.cli.pace import Rates, Target
from gossamer.cli.panel import draw
from gossamer.cli.view import LINE_EVERY, STILL_EVERY, LineView
from gossamer.model.progress import Activity, Progress, SeedFailure
from gossamer.model.waits import Wait
from gossamer.policy.hosts.outcomes import REACTIONS

NOWHERE = SeedFailure("http://mistyped.test/", "dns_not_found")
LONG = "a-host-with-a-very-long-name." * 8 + "test"


class Time:
    """A clock that a test moves."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def full() -> Progress:
    """As much as there can be to show."""
    return progress(
        pages=123_456_789, bytes=9_876_543_210, urls_seen=1_234_567_890, urls_queued=987_654_321,
        visits=200_000_000, in_flight=4096, hosts_known=1_000_000, hosts_active=4000, hosts_waiting=900_000,
        hosts_set_aside=1234, rss=9_000_000_000, disk=99_000_000_000, seconds=1_000_000.0, seeds_failed=12,
        outcomes={name: 10_000_000 - place for place, name in enumerate(REACTIONS)},
        slowest=[host(f"{place}.{LONG}", queued=10_000, left=10_000.0) for place in range(8)],
        busiest=[host(f"{place}.{LONG}", queued=10_000, pages=99_999) for place in range(8)],
        waits={name: Wait(hosts=3, host=LONG, due=time.time() + 60) for name in ("timed_out", "dns_failed")},
        note="stopping: waiting for 4096 visits under way, at most 10 s; Ctrl-C again leaves them",
    )  # fmt: skip


def drawn(now: Progress, width: int, height: int, target: Target) -> list[str]:
    text = io.StringIO()
    console = Console(file=text, width=width, height=height)
    console.print(draw("crawl-out", now, Rates(), target, width, height))
    return text.getvalue().splitlines()


@pytest.fixture
def clock() -> Time:
    return Time()


@pytest.mark.parametrize(("width", "height"), [(80, 24), (100, 30), (160, 50), (220, 60)])
def test_a_panel_fits_its_terminal(width: int, height: int) -> None:
    lines = drawn(full(), width, height, Target(1_000_000_000, 10_000_000.0))
    assert max(len(line) for line in lines) == min(width, 160)
    assert len(lines) < height
    text = "\n".join(lines)
    for word in ("slowest hosts", "busiest hosts", "at least", "fetched", "gone", "leaves them"):
        assert word in text, text


def test_a_panel_shows_failures_by_reason_and_how_long_the_slowest_host_takes() -> None:
    now = progress(
        pages=5, visits=7, urls_queued=700, outcomes={"fetched": 5, "connect_failed": 2},
        slowest=[host("slow.test", queued=600, left=1560.0), host("other.test", queued=100, left=100.0)],
    )  # fmt: skip
    lines = drawn(now, 80, 24, Target(None, None))
    assert any("connect_failed 2" in line for line in lines)
    assert any("at least 26 min 00 s left" in line for line in lines)
    assert any("slow.test" in line and "600" in line for line in lines)


def test_foreign_names_do_not_reach_the_terminal_raw() -> None:
    evil = host("\x1b[2Jevil.test", queued=1, left=5.0)
    text = "\n".join(drawn(progress(slowest=[evil]), 80, 24, Target(None, None)))
    assert "\x1b" not in text
    assert "evil.test" in text


def test_brackets_of_an_address_are_no_markup() -> None:
    text = "\n".join(
        drawn(
            progress(slowest=[host("[fd00::1]:80", queued=1, left=5.0)]), 80, 24, Target(None, None)
        )
    )
    assert "[fd00::1]:80" in text


def readings(clock: Time, *, change: bool) -> Iterator[Progress]:
    """Five readings a second, for a minute."""
    for number in range(300):
        clock.now += 0.2
        yield progress(visits=number if change else 0, outcomes={"gone": 3})


@pytest.mark.parametrize(("change", "every"), [(True, LINE_EVERY), (False, STILL_EVERY)])
def test_a_line_a_second_while_something_changes(
    clock: Time, capsys: pytest.CaptureFixture[str], change: bool, every: float
) -> None:
    view = LineView(Target(None, None), clock)
    for reading in readings(clock, change=change):
        view.show(reading)
    lines = capsys.readouterr().err.splitlines()
    assert 60 / every * 0.8 <= len(lines) <= 60 / every + 1
    assert all("gone 3" in line for line in lines)


def test_the_count_of_a_limit_waits_until_it_is_whole(
    clock: Time, capsys: pytest.CaptureFixture[str]
) -> None:
    view = LineView(Target(50, None), clock)
    view.show(progress(pages=49, activity=Activity.LIMIT_REACHED, settled=False))
    assert capsys.readouterr().err == ""
    view.show(progress(pages=50, activity=Activity.LIMIT_REACHED))
    assert "50 pages" in capsys.readouterr().err


def test_the_first_failure_of_a_seed_is_told_at_once_and_once(
    clock: Time, capsys: pytest.CaptureFixture[str]
) -> None:
    view = LineView(Target(None, None), clock)
    for _ in range(3):
        view.show(progress(seed_failures=[NOWHERE], seeds_failed=1))
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("seed ")]
    assert len(lines) == 1
    assert "http://mistyped.test/: dns_not_found" in lines[0]
    assert REACTIONS["dns_not_found"].remedy in lines[0]


def test_of_many_seeds_that_fail_some_are_named_and_the_others_counted(
    clock: Time, capsys: pytest.CaptureFixture[str]
) -> None:
    view = LineView(Target(None, None), clock)
    failures = [SeedFailure(f"http://s{number}.test/", "gone") for number in range(10)]
    for number in (10, 500, 900):
        view.show(progress(seed_failures=failures, seeds_failed=number))
    told = capsys.readouterr().err
    assert told.count("seed http://") == 10
    assert told.count("more seeds fail") == 1
