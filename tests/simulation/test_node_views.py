"""Nodes as the API shows them, by the control node's own clock: it also counts while a machine sleeps."""

import asyncio
from pathlib import Path

import msgspec
import pytest
from tests.control.readings import status
from tests.simulation.leading import IDLE, PretendedNode, leading, until

from gossamer.clock import SettableClock
from gossamer.cluster.messages import NodeStatus, encode
from gossamer.control.alerts import SILENT_AFTER, Alerts
from gossamer.control.event_log import EventLog
from gossamer.control.leader.membership import FRESH
from gossamer.control.node_views import NodeViews
from gossamer.control.readings import Readings
from gossamer.control.schemas.nodes import NodeState
from gossamer.engine import Engine


async def test_a_node_that_says_nothing_is_noticed(
    engine: Engine, clock: SettableClock, tmp_path: Path
) -> None:
    event_log = EventLog(tmp_path / "events.jsonl")
    async with (
        leading(engine, tmp_path, cluster__lease="60s") as node,
        PretendedNode(engine, "a") as a,
    ):
        views, alerts = NodeViews(node, event_log, clock), Alerts(event_log)
        await until(lambda: a.owned == 16, "a has all")
        (view,) = views.all()
        assert view.last_heartbeat is not None
        assert clock.now() - view.last_heartbeat < 1.0
        await a.die()
        await asyncio.sleep(SILENT_AFTER + 1.0)
        (view,) = views.all()
        assert view.last_heartbeat is not None
        assert SILENT_AFTER < clock.now() - view.last_heartbeat < SILENT_AFTER + 2.0
        alerts.judge(status(clock.now()), [view], Readings())
        assert [(one.kind, one.node) for one in alerts.standing()] == [("node_silent", "a")]


async def test_time_in_which_the_control_node_was_held_up_is_nobodys_silence(
    engine: Engine, clock: SettableClock, tmp_path: Path
) -> None:
    async with (
        leading(engine, tmp_path, cluster__lease="60s") as node,
        PretendedNode(engine, "a") as a,
    ):
        views = NodeViews(node, EventLog(tmp_path / "events.jsonl"), clock)
        await until(lambda: a.owned == 16, "a has all")
        # Nothing in this process ran, and what `a` said meanwhile is not read yet.
        clock.advance(10 * FRESH)
        assert [view.state for view in views.all()] == [NodeState.RUNNING]
        await asyncio.sleep(2 * FRESH)
        assert [view.state for view in views.all()] == [NodeState.RUNNING]
        await a.die()
        await until(
            lambda: [view.state for view in views.all()] == [NodeState.SILENT],
            "its silence",
            2 * FRESH,
        )


async def test_pages_per_second_are_by_the_same_clock(
    engine: Engine, clock: SettableClock, tmp_path: Path
) -> None:
    async with leading(engine, tmp_path) as node:
        views = NodeViews(node, EventLog(tmp_path / "events.jsonl"), clock)
        rates = []
        for pages in (0, 20, 40):
            told = NodeStatus(
                node="a", incarnation="x", time=clock.now(), started=clock.now() - 5.0,
                state="running", map_epoch=0, partitions=[],
                progress=msgspec.structs.replace(IDLE, pages=pages),
            )  # fmt: skip
            node.membership.note_status("web.status.a", encode(told))
            (view,) = views.all()
            assert view.uptime == pytest.approx(5.0)
            rates.append(view.pages_per_second)
            await asyncio.sleep(2.0)
        assert rates == [0.0, pytest.approx(10.0), pytest.approx(10.0)]
