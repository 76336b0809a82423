"""Every live number, time and size has a range, the API shows it, and it is the nodes' range too."""

import pytest
from tests.control.serving import Served

from gossamer.settings import CrawlSettings
from gossamer.settings.rows import Row, rows
from gossamer.settings.table import values
from gossamer.settings.units import show_duration, show_size

NUMBERS = {"integer", "number", "duration", "size"}
LIVE = [row for row in rows() if row.live and row.kind in NUMBERS]
CLUSTER = "cluster"


def written(row: Row, number: float) -> object:
    """As in a request."""
    if row.kind == "duration":
        return show_duration(number)
    if row.kind == "size":
        return show_size(int(number))
    return int(number) if row.kind == "integer" else number


def test_all_have_a_range():
    assert [row.name for row in rows() if row.kind in NUMBERS and row.minimum is None] == []
    assert [row.name for row in rows() if row.kind in NUMBERS and row.maximum is None] == []
    assert len(LIVE) > 30


def test_a_limit_of_no_time_is_refused_by_its_own_name(quiet: Served):
    for value in ("0s", "25h"):
        asked = {"values": {"fetch.total_timeout": value}}
        answer = quiet.ask("PATCH", "/api/v1/settings", asked)
        assert answer.status == 422
        assert "fetch.total_timeout" in answer.json["detail"]


@pytest.mark.parametrize("row", LIVE, ids=lambda row: row.name)
def test_both_ends_are_taken_and_nothing_beyond(quiet: Served, row: Row):
    assert row.minimum is not None
    assert row.maximum is not None
    shown = {one["name"]: one for one in quiet.get("/settings")["settings"]}[row.name]
    assert (shown["minimum"], shown["maximum"]) == (row.minimum, row.maximum)
    beyond = [written(row, row.maximum * 2 + 1)]
    if row.minimum > 0 or row.kind in {"integer", "number"}:
        beyond.append(written(row, row.minimum / 2 if row.minimum > 0 else -1))
    for value in beyond:
        answer = quiet.ask("PATCH", "/api/v1/settings", {"values": {row.name: value}})
        assert answer.status == 422, (row.name, value, answer)
        assert row.name in answer.json["detail"]
    if row.stage == CLUSTER:
        # This crawl has no cluster that could take it.
        return
    usual = values(CrawlSettings())[row.name]
    # A crawl that may take no time ends at once, as it should.
    ends = [row.maximum] if row.name == "limits.time" else [row.minimum, row.maximum]
    try:
        for value in [written(row, end) for end in ends]:
            answer = quiet.ask("PATCH", "/api/v1/settings", {"values": {row.name: value}})
            assert answer.status == 200, (row.name, value, answer)
    finally:
        quiet.ask("PATCH", "/api/v1/settings", {"values": {row.name: usual}})
