"""Alerts: what stands, since when, and that each is told once, by whoever leads."""

from pathlib import Path
from typing import Any

import pytest
from tests.control.readings import node, status

from gossamer.control.alerts import LOW_DISK, Alerts, Trouble
from gossamer.control.event_log import EventLog
from gossamer.control.outages import Outages
from gossamer.control.readings import Readings
from gossamer.control.schemas import Event, EventKind, NodeState, Status
from gossamer.control.schemas.status import DoorView, WaitView
from gossamer.model.progress import Activity

WAIT = {"connect_failed": WaitView(hosts=2, host="127.0.0.1:9", due=1060.0)}


@pytest.fixture
def event_log(tmp_path: Path) -> EventLog:
    return EventLog(tmp_path / "events.jsonl")


@pytest.fixture
def alerts(event_log: EventLog) -> Alerts:
    return Alerts(event_log)


def told(log: EventLog) -> list[tuple[EventKind, object]]:
    return [(event.kind, event.data.get("kind")) for event in log.events()]


def kinds(alerts: Alerts) -> list[str]:
    return [alert.kind for alert in alerts.standing()]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ({"activity": Activity.DISK_FULL, "disk_free": 0}, "disk_full"),
        ({"disk_free": LOW_DISK - 1}, "disk_low"),
        ({"disk_free": LOW_DISK}, None),
        ({"disk_free": None}, None),
        ({"hosts_set_aside": 3}, "hosts_set_aside"),
    ],
)
def test_what_a_status_shows(alerts: Alerts, values: dict[str, Any], kind: str | None) -> None:
    alerts.judge(status(**values), [], Readings())
    assert kinds(alerts) == ([kind] if kind else [])


def door(failures: int, resting: float | None = None) -> dict[str, DoorView]:
    view = DoorView(
        batches=1, rows=1, failures=failures, late=failures, failed=0, nonsense=0, defaults=9,
        resting=resting, last_failure="slow late: no answer within 2 s",
    )  # fmt: skip
    return {"order": view}


def test_hosts_that_a_policy_may_have_set_aside(alerts: Alerts) -> None:
    def text(doors: dict[str, DoorView]) -> str:
        alerts.judge(status(hosts_set_aside=3, doors=doors), [], Readings())
        (alert,) = alerts.standing()
        return alert.text

    assert text({}) == "3 hosts are set aside after failures in a row"
    (view,) = door(0).values()
    assert text({"hosts": view}).endswith("failures in a row, or by the policy of hosts")


def test_a_policy_that_fails_is_an_alert_until_a_minute_after(alerts: Alerts) -> None:
    shown = []
    for time, failures, resting in (
        (1.0, 0, None), (2.0, 1, None), (61.0, 1, None), (63.0, 1, None), (64.0, 1, 3.0),
    ):  # fmt: skip
        alerts.judge(status(time, doors=door(failures, resting)), [], Readings())
        shown.append(kinds(alerts))
    assert shown == [[], ["policy_order"], ["policy_order"], [], ["policy_order"]]
    (alert,) = alerts.standing()
    assert alert.text == "the policy of order fails: slow late: no answer within 2 s"


def test_a_policy_of_a_node_fails_and_the_node_is_named(alerts: Alerts) -> None:
    shown = []
    for time, a, b in (
        (1.0, door(5), door(0)),
        (2.0, door(5), door(1)),
        (3.0, door(6), door(1)),
        (65.0, door(6, 3.0), door(1)),
    ):
        alerts.judge(status(time), [], Readings(), doors={"a": a, "b": b})
        shown.append({(alert.kind, alert.node) for alert in alerts.standing()})
    order_a, order_b = ("policy_order", "a"), ("policy_order", "b")
    # Failures of before we looked are nothing that happens now.
    assert shown == [set(), {order_b}, {order_a, order_b}, {order_a}]
    (alert,) = alerts.standing()
    assert alert.text == "the policy of order fails on node a: slow late: no answer within 2 s"


def test_failures_of_hours_ago_are_no_alert_of_a_restarted_control_node(
    event_log: EventLog,
) -> None:
    restarted = Alerts(event_log)
    restarted.judge(status(), [], Readings(), doors={"a": door(9)})
    assert kinds(restarted) == []
    # One that rests now fails now.
    resting = Alerts(event_log)
    resting.judge(status(), [], Readings(), doors={"a": door(9, 3.0)})
    assert kinds(resting) == ["policy_order"]


def test_a_node_that_was_away_brings_no_old_failures_and_a_restarted_one_its_new_ones(
    alerts: Alerts,
) -> None:
    shown = []
    for time, doors in (
        (1.0, {"a": door(0), "b": door(4)}),
        (200.0, {"a": door(0)}),
        (300.0, {"a": door(0), "b": door(4)}),
        (301.0, {"a": door(0), "b": door(2)}),
    ):
        alerts.judge(status(time), [], Readings(), doors=doors)
        shown.append([alert.node for alert in alerts.standing()])
    assert shown == [[], [], [], ["b"]]


def test_an_alert_is_told_when_it_begins_and_when_it_ends(
    alerts: Alerts, event_log: EventLog
) -> None:
    for time, free in ((1.0, 10**12), (2.0, 0), (3.0, 0), (4.0, 10**12)):
        alerts.judge(status(time, disk_free=free), [], Readings())
        assert [alert.since for alert in alerts.standing()] == ([2.0] if free == 0 else [])
    assert told(event_log) == [
        (EventKind.ALERT, "disk_low"),
        (EventKind.ALERT_ENDED, "disk_low"),
    ]


def test_who_stands_by_knows_and_does_not_tell(alerts: Alerts, event_log: EventLog) -> None:
    alerts.judge(status(disk_free=0), [], Readings(), tell=False)
    assert kinds(alerts) == ["disk_low"]
    assert told(event_log) == []
    # What the one before it told is not told again, and its end is.
    event = Event(
        id=1, time=1.0, kind=EventKind.ALERT, text="0 MiB left on the disk", node=None, host=None,
        who=None, data={"kind": "disk_low"},
    )  # fmt: skip
    alerts.learn(event)
    alerts.judge(status(disk_free=0), [], Readings())
    assert told(event_log) == []
    alerts.judge(status(), [], Readings())
    assert told(event_log) == [(EventKind.ALERT_ENDED, "disk_low")]


def test_notices_are_shown_and_not_told(alerts: Alerts, event_log: EventLog) -> None:
    alerts.judge(status(hosts_set_aside=1), [], Readings())
    assert kinds(alerts) == ["hosts_set_aside"]
    assert told(event_log) == []


def readings(*statuses: Any) -> Readings:
    found = Readings()
    for one in statuses:
        found.add(one)
    return found


@pytest.mark.parametrize(
    ("now", "words"),
    [
        ({"urls_queued": 5, "next_due": 1500.0}, "every host waits"),
        ({"urls_queued": 5, "in_flight": 2}, "2 visits are under way and none has ended"),
        ({"urls_queued": 5}, "nothing is under way"),
        ({"urls_queued": 5, "waits": WAIT}, "2 hosts wait: connect_failed"),
        ({"urls_queued": 0}, None),
        ({"urls_queued": 5, "wanted": "pause"}, None),
        ({"urls_queued": 5, "visits": 8}, None),
    ],
)
def test_no_visit_for_a_minute(alerts: Alerts, now: dict[str, Any], words: str | None) -> None:
    before = readings(*(status(900.0 + second, visits=7) for second in range(100)))
    alerts.judge(status(1000.0, **({"visits": 7} | now)), [], before)
    assert [words in alert.text for alert in alerts.standing() if words] == (
        [True] if words else []
    )
    assert bool(alerts.standing()) is (words is not None)


@pytest.mark.parametrize(
    ("now", "stands"),
    [
        ({}, True),
        ({"hosts_waiting": 1, "hosts_set_aside": 1}, True),
        ({"hosts_waiting": 3}, False),
        ({"hosts_active": 1}, False),
        ({"in_flight": 1}, False),
        ({"wanted": "pause"}, False),
        ({"activity": Activity.PAUSED}, False),
        ({"waits": {}}, False),
    ],
)
def test_a_crawl_that_does_nothing_but_wait_says_for_what(
    alerts: Alerts, now: dict[str, Any], *, stands: bool
) -> None:
    usual: dict[str, Any] = {"urls_queued": 5, "hosts_waiting": 2, "waits": WAIT}
    alerts.judge(status(**(usual | now)), [], Readings())
    found = [alert for alert in alerts.standing() if alert.kind == "hosts_wait"]
    assert bool(found) is stands
    if stands:
        words = "2 hosts wait: connect_failed; next try in 60 s (127.0.0.1:9)"
        assert words in found[0].text


def test_what_is_told_as_no_progress_is_not_told_twice(alerts: Alerts) -> None:
    before = readings(*(status(900.0 + second, visits=7) for second in range(100)))
    now = status(
        1000.0, visits=7, urls_queued=5, hosts_waiting=2, waits=WAIT, next_due=1060.0
    )  # fmt: skip
    alerts.judge(now, [], before)
    (alert,) = alerts.standing()
    assert alert.kind == "no_progress"
    assert "2 hosts wait: connect_failed" in alert.text


def test_many_failures_name_the_worst(alerts: Alerts) -> None:
    before = readings(status(950.0, outcomes={"fetched": 100}))
    now = {"fetched": 120, "timed_out": 40, "dns_failed": 10}
    alerts.judge(status(1000.0, outcomes=now), [], before)
    (alert,) = alerts.standing()
    assert (alert.kind, "71 %" in alert.text, "timed_out" in alert.text) == (
        "many_failures", True, True,
    )  # fmt: skip


def test_nodes_that_are_lost_or_silent(alerts: Alerts) -> None:
    nodes = [
        node("well"),
        node("quiet", heard=990.0),
        node("gone", NodeState.LOST, heard=0.0),
        node("going", NodeState.LEAVING, heard=0.0),
    ]
    alerts.judge(status(), nodes, Readings(), missed=["c1", "c2"])
    found = {(alert.kind, alert.node) for alert in alerts.standing()}
    assert found == {("node_silent", "quiet"), ("node_lost", "gone"), ("no_reserve", None)}
    # Without the engine nobody is heard, which says nothing about them.
    alerts.judge(status(), nodes, Readings(), troubles=[Trouble.ENGINE_AWAY], missed=["c1"])
    assert kinds(alerts) == ["engine_away"]


@pytest.mark.parametrize("trouble", Trouble)
def test_every_trouble_of_a_cluster_is_an_alert(alerts: Alerts, trouble: Trouble) -> None:
    alerts.judge(status(), [], Readings(), troubles=[trouble])
    assert kinds(alerts) == [trouble.value]


def failing(time: float, hosts: int = 2, of: int = 3, **values: Any) -> Status:
    waits = {"connect_failed": WaitView(hosts=hosts, host="127.0.0.1:9", due=time + 60)}
    return status(time, waits=waits if hosts else {}, hosts_set_aside=0, hosts_waiting=of, **values)


def test_most_hosts_failing_for_a_while_is_an_outage_that_leads_to_them(alerts: Alerts) -> None:
    shown = []
    for time, hosts in ((1.0, 2), (20.0, 2), (31.0, 2), (32.0, 1)):
        alerts.judge(failing(time, hosts, hosts_active=1), [], Readings())
        shown.append([alert.kind for alert in alerts.standing()])
        if hosts == 2 and time > 30:
            (alert,) = alerts.standing()
            assert alert.hosts == {"failure": "connect_failed", "sort": "errors"}
            assert alert.text.startswith("2 of the 4 hosts with URLs to visit cannot be reached")
            assert "check address and port" in alert.hint
    assert shown == [[], [], ["outage"], []]


def test_hosts_that_fail_on_single_pages_are_no_outage(event_log: EventLog, alerts: Alerts) -> None:
    outages = Outages(event_log)
    waits = {"server_failed": WaitView(hosts=9, host="127.0.0.1:9", due=99.0)}
    for time in (1.0, 60.0):
        alerts.judge(status(time, waits=waits, hosts_waiting=9, hosts_active=1), [], Readings())
        outages.judge(status(time, waits=waits, hosts_waiting=9))
    assert (kinds(alerts), event_log.events()) == ([], [])


def test_an_outage_is_an_event_when_it_begins_doubles_and_ends(event_log: EventLog) -> None:
    outages = Outages(event_log)
    for time, hosts in ((1.0, 1), (30.0, 1), (31.0, 1), (40.0, 1), (41.0, 2), (42.0, 3), (43.0, 0)):
        outages.judge(failing(time, hosts, of=500))
    assert [(one.kind, one.data.get("hosts")) for one in event_log.events()] == [
        (EventKind.OUTAGE, 1),
        (EventKind.OUTAGE, 2),
        (EventKind.OUTAGE_ENDED, None),
    ]
    assert event_log.events()[0].host == "127.0.0.1:9"


def test_who_leads_next_tells_the_end_of_an_outage_and_not_its_beginning(
    event_log: EventLog, tmp_path: Path
) -> None:
    before, after = Outages(event_log), EventLog(tmp_path / "other.jsonl")
    for time in (1.0, 31.0):
        before.judge(failing(time))
    following = Outages(after)
    for event in event_log.events():
        following.learn(event)
    for time, hosts in ((70.0, 2), (90.0, 0)):
        following.judge(failing(time, hosts), tell=False)
    following.judge(failing(91.0, 0))
    assert [one.kind for one in after.events()] == [EventKind.OUTAGE_ENDED]
