"""The service of a cluster in this process: every change is confirmed by the nodes, and who is away is said."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.simulation.leading import PretendedNode, leading, until

from gossamer.clock import SettableLoop
from gossamer.control.cluster_service import ClusterService
from gossamer.control.replicated_logs import ReplicatedLogs
from gossamer.control.schemas import ChangeSettings, Command, NodeCommand, NodeState
from gossamer.control.service import (
    NotKnownError,
    RefusedError,
    UnreachableError,
    WrongValueError,
)
from gossamer.engine import memory
from gossamer.engine.memory import MemoryServer

Made = tuple[ClusterService, PretendedNode, MemoryServer]


@pytest.fixture
async def made(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Made]:
    """A service beside the control node that leads, and a node `a`. Its parameter: more settings."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, SettableLoop)
    server = memory.MemoryServer(loop.clock)
    engine = await memory.connect(server, "web", "test")
    more = getattr(request, "param", {})
    async with leading(engine, tmp_path / "control", **more) as node:
        logs = ReplicatedLogs(
            engine, tmp_path / "control", leading=lambda: node.leading, replicas=lambda: 1
        )
        async with (
            logs,
            ClusterService(node, tmp_path / "control", logs, loop.clock) as service,
            PretendedNode(engine, "a") as a,
        ):
            await until(lambda: a.owned == 16, "a has all")
            await until(lambda: service._monitor.last is not None, "a first reading")
            yield service, a, server


async def test_settings_are_changed_confirmed_and_undone(made: Made) -> None:
    service, *_ = made
    change = await service.change_settings(
        ChangeSettings(values={"politeness.delay": "3s"}), "operate:1"
    )
    assert (change.version, change.applied_by, change.who) == (1, ["a"], "operate:1")
    assert (await service.settings()).version == 1
    undone = await service.undo_settings(1, "operate:1")
    assert (undone.version, undone.undoes) == (2, 1)
    assert [one.version for one in await service.setting_changes(None, 10)] == [2, 1]
    with pytest.raises(RefusedError, match="changed again"):
        await service.undo_settings(1, "operate:1")
    with pytest.raises(WrongValueError, match=r"scope\.exclude"):
        await service.change_settings(ChangeSettings(values={"scope.exclude": ["("]}), "x")
    with pytest.raises(WrongValueError, match="fixed"):
        await service.change_settings(ChangeSettings(values={"partitions": 8}), "x")
    old = ChangeSettings(values={"politeness.delay": "4s"}, expected_version=1)
    with pytest.raises(RefusedError, match="at version 2"):
        await service.change_settings(old, "x")
    assert (await service.settings()).version == 2


@pytest.mark.parametrize("made", [{"doors__order": "deep"}], indirect=True)
async def test_an_order_that_would_have_no_effect_is_refused(made: Made) -> None:
    service, *_ = made
    with pytest.raises(WrongValueError, match=r"no effect in this crawl: doors\.order names deep"):
        await service.change_settings(ChangeSettings(values={"frontier.order": "static"}), "x")
    assert (await service.settings()).version == 0
    # The one that it is already changes nothing, and is taken.
    await service.change_settings(ChangeSettings(values={"frontier.order": "breadth"}), "x")


async def test_commands_are_confirmed_by_the_nodes(made: Made) -> None:
    service, *_ = made
    paused = await service.command(Command.PAUSE, "operate:1")
    assert [(row.node, row.confirmed) for row in paused.nodes] == [("a", True)]
    assert paused.confirmed
    assert (await service.command(Command.RESUME, "operate:1")).confirmed
    with pytest.raises(RefusedError, match="nobody here can start a process"):
        await service.command(Command.ADD_NODE, "operate:1")


async def test_a_stop_is_confirmed_only_by_nodes_that_said_that_they_go(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    service, a, server = made
    engine = await memory.connect(server, "web", "test")
    node, stop = service._node, service._node.commands.stop

    async def stop_without_c() -> None:
        """`b` has gone in order before it could say so by its status; `c` is lost."""
        await b.leave(keeps=True)
        await c.die()
        assert await node.membership.take_out(node.membership.nodes["c"], "silent")
        await stop()

    async with PretendedNode(engine, "b") as b, PretendedNode(engine, "c") as c:
        known = {"a", "b", "c"}
        await until(lambda: {one.name for one in node.membership.living()} == known, "all live")
        # Between the moment in which it is looked who is there, and the command.
        monkeypatch.setattr(node.commands, "stop", stop_without_c)
        stopped = await service.command(Command.STOP, "operate:1")
    rows = {row.node: (row.confirmed, row.note) for row in stopped.nodes}
    assert rows == {"a": (True, ""), "b": (True, ""), "c": (False, "lost before it answered")}
    assert not stopped.confirmed
    assert a.owned > 0


async def test_one_node_is_held_back_and_let_go(made: Made) -> None:
    service, *_ = made
    await service.node_command("a", NodeCommand.PAUSE, "operate:1")
    assert service._node.state.held == {"a"}
    await service.node_command("a", NodeCommand.RESUME, "operate:1")
    assert service._node.state.held == set()
    with pytest.raises(RefusedError, match="the last node"):
        await service.node_command("a", NodeCommand.REMOVE, "operate:1")
    with pytest.raises(NotKnownError):
        await service.node_command("z", NodeCommand.PAUSE, "operate:1")


async def test_seeds_are_taken_numbered_and_told(made: Made) -> None:
    service, *_ = made
    submission = await service.submit_seeds(["http://x.example/", "mailto:x"], "operate:1")
    assert (submission.id, submission.taken, submission.refused) == (1, 1, 1)
    page = await service.submissions(None, 10)
    assert [one.id for one in page.submissions] == [1]

    def told() -> bool:
        return any(event.data.get("submission") == 1 for event in service._event_log.events())

    await until(told, "an event tells of it")


async def test_without_the_engine_everything_is_shown_and_nothing_pretended(made: Made) -> None:
    service, _a, server = made
    server.stop()
    for asking in (
        service.command(Command.PAUSE, "operate:1"),
        service.change_settings(ChangeSettings(values={"politeness.delay": "3s"}), "operate:1"),
        service.node_command("a", NodeCommand.PAUSE, "operate:1"),
        service.host("x.example"),
    ):
        with pytest.raises(UnreachableError) as found:
            await asking
        assert found.value.again is not None
    status = await service.status()
    assert status.mode == "cluster"
    await until(
        lambda: any(one.kind == "engine_away" for one in service._monitor.alerts.standing()),
        "an alert",
    )
    (view,) = await service.nodes()
    assert view.state is NodeState.SILENT


async def test_a_time_of_day_that_is_set_makes_no_reading_old(made: Made) -> None:
    service, *_ = made
    loop = asyncio.get_running_loop()
    assert isinstance(loop, SettableLoop)
    loop.clock.set_now(loop.clock.now() + 3600)
    assert await service.ready() is None


async def test_a_wiped_engine_is_no_reason_to_know_no_node(made: Made) -> None:
    service, _a, server = made
    server.wipe()
    known = service._node.membership.nodes["a"]
    await until(lambda: known.record is None, "the control node has noticed")
    view = await service.node_command("a", NodeCommand.PAUSE, "operate:1")
    assert (view.id, view.state) == ("a", NodeState.PAUSED)
    with pytest.raises(NotKnownError):
        await service.node_command("z", NodeCommand.PAUSE, "operate:1")
