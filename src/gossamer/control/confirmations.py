"""Commands to a cluster, and every node's own word that it does as told."""

import asyncio
from collections.abc import Callable, Collection
from typing import Any

from gossamer.clock import SYSTEM, Clock
from gossamer.cluster.requests import persist
from gossamer.control.leader.commands import PATIENCE
from gossamer.control.leader.control_node import ControlNode
from gossamer.control.schemas import Command, Confirmation
from gossamer.errors import EngineAwayError, NoResponderError, UsageError

CONFIRM = 15.0
"""Seconds that a command waits for every node's word."""

LAUNCH = 5.0


class ConfirmedCommands:
    """Gives the commands of a crawl and waits for the nodes to confirm them."""

    def __init__(self, node: ControlNode, clock: Clock = SYSTEM) -> None:
        self._node = node
        self._clock = clock

    async def give(self, command: Command) -> list[Confirmation]:
        commands, begun = self._node.commands, self._clock.monotonic()
        if command is Command.PAUSE:
            await commands.pause()
            # Held back is enough: what is under way ends, and nothing begins.
            return await self.confirmed(lambda status: status.state in {"pausing", "paused"})
        if command is Command.RESUME:
            await commands.resume()
            return await self.confirmed(lambda status: status.state == "running" or status.held)
        if command is Command.STOP:
            names = {known.name for known in self._node.membership.expected()}
            await commands.stop()
            return await self.confirmed(lambda status: status.state == "leaving", names)
        if command is Command.ADD_NODE:
            name = await self._launch()
            return [Confirmation(node=name, confirmed=True, seconds=None, note="it is starting")]
        if command is Command.RERANK:
            answers = await commands.rerank()
        else:
            answers = await commands.checkpoint()
        seconds = round(self._clock.monotonic() - begun, 3)
        return [
            Confirmation(
                node=node,
                confirmed=not isinstance(answer, dict),
                seconds=seconds,
                note=str(answer["error"]) if isinstance(answer, dict) else "",
            )
            for node, answer in answers.items()
        ]

    async def hold(self, node: str, *, hold: bool) -> None:
        """Holds one node back or lets it go. `EngineAwayError`: it is wanted, but not confirmed yet."""
        await persist(lambda: self._node.commands.hold_node(node, hold=hold), PATIENCE)
        end = self._clock.monotonic() + CONFIRM
        while self._clock.monotonic() < end:
            known = self._node.membership.nodes.get(node)
            if known is not None and known.fresh is not None and known.fresh.held == hold:
                return
            await asyncio.sleep(0.05)
        raise EngineAwayError(f"{node} does so as soon as it can; there is no word from it yet")

    async def _launch(self) -> str:
        engine = self._node.engine
        try:
            return (await engine.request(engine.names.launcher, b"", LAUNCH)).decode()
        except NoResponderError as error:
            raise UsageError(
                "nobody here can start a process",
                do="run `gossamer node --engine …` on a machine, and it joins by itself",
            ) from error

    async def confirmed(
        self, holds: Callable[[Any], bool], leaving: Collection[str] = ()
    ) -> list[Confirmation]:
        """Waits until the own status of every node says so; also of those whose record is not known now.

        `leaving`: nodes that were there when they were told to end; one that said that it goes has done so.
        """
        begun = self._clock.monotonic()
        seconds: dict[str, float] = {}
        while True:
            membership = self._node.membership
            living = {known.name: known for known in membership.expected()}
            done = {name for name in leaving if membership.has_left(name)}
            done |= {name for name, one in living.items() if one.fresh and holds(one.fresh)}
            for name in done - set(seconds):
                seconds[name] = round(self._clock.monotonic() - begun, 3)
            late = set(living) - set(seconds)
            if not late or self._clock.monotonic() - begun > CONFIRM:
                break
            await asyncio.sleep(0.05)
        rows = [Confirmation(node=n, confirmed=True, seconds=s) for n, s in seconds.items()]
        rows += [
            Confirmation(node=name, confirmed=False, seconds=None, note="no word from it yet")
            for name in late
        ]
        lost = set(leaving) - set(seconds) - late
        rows += [
            Confirmation(node=name, confirmed=False, seconds=None, note="lost before it answered")
            for name in lost
        ]
        return sorted(rows, key=lambda row: row.node)
