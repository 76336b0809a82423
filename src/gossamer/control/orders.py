"""Commands to a cluster, and every node's own word that it does as told."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

from gossamer.control.overseer import Overseer
from gossamer.control.shapes import Command, Confirmation
from gossamer.errors import EngineAwayError, EngineError, UsageError

CONFIRM = 15.0
"""Seconds that a command waits for every node's word."""

LAUNCH = 5.0


class Orders:
    """Gives the commands of a crawl and waits for the nodes to confirm them."""

    def __init__(self, overseer: Overseer) -> None:
        self._overseer = overseer

    async def give(self, command: Command) -> list[Confirmation]:
        overseer, begun = self._overseer, time.monotonic()
        if command is Command.PAUSE:
            await overseer.pause()
            # Held back is enough: what is under way ends, and nothing begins.
            return await self.confirmed(lambda status: status.state in {"pausing", "paused"})
        if command is Command.RESUME:
            await overseer.resume()
            return await self.confirmed(lambda status: status.state == "running" or status.held)
        if command is Command.STOP:
            await overseer.stop()
            return await self.confirmed(lambda status: status.state == "leaving")
        if command is Command.ADD_NODE:
            name = await self._launch()
            return [Confirmation(node=name, confirmed=True, seconds=None, note="it is starting")]
        if command is Command.RERANK:
            answers = await overseer.rerank()
        else:
            answers = await overseer.checkpoint()
        seconds = round(time.monotonic() - begun, 3)
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
        await self._overseer.hold_node(node, hold=hold)
        end = time.monotonic() + CONFIRM
        while time.monotonic() < end:
            known = self._overseer.roster.nodes.get(node)
            if known is not None and known.fresh is not None and known.fresh.held == hold:
                return
            await asyncio.sleep(0.05)
        raise EngineAwayError(f"{node} does so as soon as it can; there is no word from it yet")

    async def _launch(self) -> str:
        engine = self._overseer.engine
        try:
            return (await engine.request(engine.names.launcher, b"", LAUNCH)).decode()
        except EngineError as error:
            raise UsageError(
                "nobody here can start a process: run `gossamer node --engine …` on a machine, "
                "and it joins by itself"
            ) from error

    async def confirmed(self, holds: Callable[[Any], bool]) -> list[Confirmation]:
        """Waits until every living node's own status says so."""
        begun = time.monotonic()
        seconds: dict[str, float] = {}
        while True:
            living = {known.name: known for known in self._overseer.living()}
            for name, known in living.items():
                if name not in seconds and known.fresh is not None and holds(known.fresh):
                    seconds[name] = round(time.monotonic() - begun, 3)
            late = set(living) - set(seconds)
            if not late or time.monotonic() - begun > CONFIRM:
                break
            await asyncio.sleep(0.05)
        rows = [Confirmation(node=n, confirmed=True, seconds=s) for n, s in seconds.items()]
        rows += [
            Confirmation(node=name, confirmed=False, seconds=None, note="no word from it yet")
            for name in late
        ]
        return sorted(rows, key=lambda row: row.node)
