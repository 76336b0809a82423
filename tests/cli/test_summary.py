"""What a crawl says at its end: what was not fetched, and the setting or command that would change it."""

import io
import re
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from tests.cli.readings import progress

from gossamer.cli.summary import as_json, show_summary
from gossamer.model.progress import Activity, Progress
from gossamer.policy.hosts.outcomes import REACTIONS, Group, group
from gossamer.settings.model import LimitSettings
from gossamer.words import with_directory

OUT = Path("/a/directory/with/a/name/that/is/longer/than/a/line/of/a/terminal/of/eighty/columns")


def said(outcomes: dict[str, int], *, pages: int = 3, aside: int = 0) -> str:
    now = Progress(
        activity=Activity.FINISHED, pages=pages, bytes=0, urls_seen=9, urls_queued=0, visits=9, in_flight=0,
        hosts_known=1, hosts_active=0, hosts_waiting=0, hosts_set_aside=0, outcomes=outcomes, rss=0, disk=0,
        seconds=1.0, urls_set_aside=aside, hosts_aliases=aside,
    )  # fmt: skip
    text = io.StringIO()
    show_summary(Console(file=text, width=80), now, OUT, interrupted=False)
    return text.getvalue()


def test_each_outcome_that_fetches_nothing_names_what_can_be_done() -> None:
    # Given back, it is queued, and the summary says how to go on.
    nothing = {name for name in REACTIONS if group(name) is not Group.DONE} - {"deferred"}
    assert {name for name in nothing if not REACTIONS[name].remedy} == set()


@pytest.mark.parametrize("outcome", ["refused", "unwanted_type", "server_failed", "over_quota"])
def test_a_crawl_with_pages_says_what_can_be_done_about_the_others(outcome: str) -> None:
    lines = said({"fetched": 3, outcome: 2}).splitlines()
    assert f"{outcome}: {REACTIONS[outcome].remedy}" in lines
    assert "No page could be had." not in lines


def test_what_any_crawl_meets_needs_nothing() -> None:
    text = said({"fetched": 3, "redirected": 2, "duplicate": 1, "gone": 1})
    assert "What can be done" not in text
    assert REACTIONS["redirected"].remedy not in text


def test_a_crawl_without_a_page_names_a_remedy_for_all_that_it_met() -> None:
    lines = said({"redirected": 1, "gone": 1}, pages=0).splitlines()
    assert "No page could be had." in lines
    for outcome in ("redirected", "gone"):
        assert f"{outcome}: {with_directory(REACTIONS[outcome].remedy, OUT)}" in lines


def test_commands_are_not_broken_into_lines() -> None:
    text = said({"fetched": 3, "set_aside": 2}, aside=2)
    for command in (f"gossamer patterns {OUT}", f"gossamer aliases {OUT}"):
        assert any(line.endswith(command) for line in text.splitlines()), text


def ending(*, interrupted: bool = False, limits: LimitSettings | None = None, **given: Any) -> str:
    """The last line of a crawl that ended with these counters."""
    text = io.StringIO()
    console = Console(file=text, width=80)
    show_summary(console, progress(**given), OUT, interrupted=interrupted, limits=limits)
    return text.getvalue().splitlines()[-1]


def test_the_end_says_why_it_came_and_the_one_command_that_goes_on() -> None:
    go_on = f"gossamer crawl --resume --out {OUT}"
    reached: dict[str, Any] = {"activity": Activity.LIMIT_REACHED, "urls_queued": 9}
    assert ending(**reached).endswith(f"{go_on} --max-pages N")
    time_limit = LimitSettings.model_validate({"time": "5s"})
    timed = ending(**reached, seconds=6.0, limits=time_limit)
    assert timed.endswith(f"{go_on} --set limits.time=TIME")
    stopped = ending(activity=Activity.RUNNING, urls_queued=9, interrupted=True)
    assert stopped == f"Stopped; everything is saved. Go on with: {go_on}"
    blocked = ending(activity=Activity.FINISHED, urls_queued=9, hosts_blocked=1)
    assert "limit" not in blocked
    assert "gossamer unblock HOST" in blocked


def test_pages_of_scripts_alone_are_told_and_counted() -> None:
    now = progress(activity=Activity.FINISHED, pages=1, script_pages=1)
    assert as_json(now, OUT)["script_pages"] == 1
    text = io.StringIO()
    show_summary(Console(file=text, width=80), now, OUT, interrupted=False)
    assert "1 page has no text or links of its own but scripts" in text.getvalue()


def test_commands_of_remedies_name_the_directory_of_the_crawl() -> None:
    assert (
        with_directory("`gossamer why URL --out DIR` says", Path("a b"))
        == "`gossamer why URL --out 'a b'` says"
    )


def test_a_reason_of_another_version_does_not_hide_the_rest() -> None:
    now = progress(links_left_out={"parameter": 7, "moon_phase": 3})
    text = io.StringIO()
    show_summary(Console(file=text, width=200), now, OUT, interrupted=False)
    assert re.search(r"moon_phase +3 +a reason of another version", text.getvalue())
    assert f"gossamer patterns {OUT} --take-up" in " ".join(text.getvalue().split())
