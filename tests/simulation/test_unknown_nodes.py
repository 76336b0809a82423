"""Nodes whose records the engine has lost: not known now is not the same as not there."""

from pathlib import Path

import pytest
from tests.simulation.leading import PretendedNode, leading, until

from gossamer.cluster.requests import ask_control
from gossamer.control.confirmations import ConfirmedCommands
from gossamer.control.leader.control_node import ControlNode
from gossamer.control.leader.membership import Presence
from gossamer.control.schemas import Command
from gossamer.engine import Engine
from gossamer.engine.memory import MemoryServer
from gossamer.errors import EngineAwayError, UsageError

REMOVE = ("remove", {"node": "a"})
MOVE = ("move", {"partitions": [0], "node": "a"})


def shared(node: ControlNode) -> bool:
    value = node.state.map
    return value is not None and value.moving == 0 and value.nodes() == {"a", "b"}


def unknown(node: ControlNode) -> bool:
    return {node.membership.nodes[name].record for name in ("a", "b")} == {None}


@pytest.mark.parametrize(("command", "body"), [REMOVE, MOVE])
async def test_a_command_waits_for_nodes_that_register_again(
    engine: Engine, server: MemoryServer, tmp_path: Path, command: str, body: object
) -> None:
    async with (
        leading(engine, tmp_path) as node,
        PretendedNode(engine, "a"),
        PretendedNode(engine, "b"),
    ):
        await until(lambda: shared(node), "both have half")
        server.wipe()
        await until(lambda: unknown(node), "the control node has noticed")
        await ask_control(engine, command, body, seconds=20.0)


@pytest.mark.parametrize(("command", "body"), [REMOVE, MOVE])
async def test_then_it_says_what_is_not_known(
    engine: Engine, server: MemoryServer, tmp_path: Path, command: str, body: object
) -> None:
    async with (
        leading(engine, tmp_path, cluster__lease="30s") as node,
        PretendedNode(engine, "a") as a,
        PretendedNode(engine, "b"),
    ):
        await until(lambda: shared(node), "both have half")
        await a.die()
        server.wipe()
        await until(lambda: unknown(node), "the control node has noticed")
        with pytest.raises(EngineAwayError, match="no record of node a now"):
            await ask_control(engine, command, body, seconds=5.0)
        with pytest.raises(EngineAwayError, match="no record of node a now"):
            await node.commands.hold_node("a", hold=True)
        # The engine is there and was read: this name is nobody's.
        with pytest.raises(UsageError, match="no node z"):
            await ask_control(engine, "remove", {"node": "z"}, seconds=5.0)


async def test_who_is_not_known_now_may_be_the_other_node(
    engine: Engine, server: MemoryServer, tmp_path: Path
) -> None:
    async with (
        leading(engine, tmp_path, cluster__lease="30s") as node,
        PretendedNode(engine, "a"),
        PretendedNode(engine, "b") as b,
    ):
        await until(lambda: shared(node), "both have half")
        await b.die()
        server.wipe()
        await until(lambda: unknown(node), "the control node has noticed")
        await until(lambda: node.membership.nodes["a"].alive, "a is there again")
        with pytest.raises(EngineAwayError, match="whether a node besides a lives"):
            await ask_control(engine, "remove", {"node": "a"}, seconds=3.0)


async def test_a_control_node_that_has_not_read_yet_knows_no_wrong_name(
    engine: Engine, tmp_path: Path
) -> None:
    async with leading(engine, tmp_path) as node:
        await until(lambda: node.membership.complete, "the nodes were read")
        node.membership.forget_engine()
        with pytest.raises(EngineAwayError, match="no record of node z now"):
            await node.commands.hold_node("z", hold=True)
        with pytest.raises(EngineAwayError, match="were not read"):
            await node.commands.checkpoint()


async def test_a_pause_after_a_wipe_is_confirmed_by_all(
    engine: Engine, server: MemoryServer, tmp_path: Path
) -> None:
    async with (
        leading(engine, tmp_path) as node,
        PretendedNode(engine, "a"),
        PretendedNode(engine, "b"),
    ):
        await until(lambda: shared(node), "both have half")
        server.wipe()
        await until(lambda: unknown(node), "the control node has noticed")
        given = await ConfirmedCommands(node).give(Command.PAUSE)
        assert [(row.node, row.confirmed) for row in given] == [("a", True), ("b", True)]
        assert {line.node: line.state for line in node.overview.nodes()} == {
            "a": "paused", "b": "paused",
        }  # fmt: skip


async def test_one_that_owns_nothing_and_does_not_come_back_is_forgotten(
    engine: Engine, server: MemoryServer, tmp_path: Path
) -> None:
    async with (
        leading(engine, tmp_path) as node,
        PretendedNode(engine, "a"),
        PretendedNode(engine, "b") as b,
    ):
        await until(lambda: shared(node), "both have half")
        await ask_control(engine, "remove", {"node": "b"})
        await until(lambda: node.state.map and node.state.map.nodes() == {"a"}, "b has nothing")
        await b.die()
        server.wipe()
        await until(lambda: node.membership.nodes["b"].record is None, "the control node noticed")
        assert node.commands.presence("b") is Presence.UNKNOWN
        await until(lambda: node.commands.presence("b") is Presence.NONE, "it is not waited for")
