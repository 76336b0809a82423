"""Carries the lending of addresses: hosts of several nodes that share one keep its gap together.

Who lends what to whom is decided natively, where visits ask for their turn. Here requests go to the
owners of the homes, and their answers come back. No answer means no loan: the visits wait, and are
asked for again. A message begins with the asker's name and a blank.
"""

import asyncio

from gossamer._native import Node
from gossamer.cluster.crawl_state import CrawlState
from gossamer.engine import Engine
from gossamer.errors import EngineError

LOOK_EVERY = 0.01
ANSWER = 1.0


class Addresses:
    def __init__(self, node: Node, *, name: str, engine: Engine, view: CrawlState) -> None:
        self._node = node
        self._name = name
        self._engine = engine
        self._view = view
        self._asking: set[asyncio.Task[None]] = set()
        self.asked = 0

    async def answer(self, data: bytes) -> bytes:
        """As a home: a batch of another node."""
        asker, _blank, request = data.partition(b" ")
        return self._node.grants_answer(asker.decode(errors="replace"), request)

    async def run(self) -> None:
        try:
            while True:
                for home, request in self._node.grants_wanted():
                    task = asyncio.create_task(self._ask(home, request))
                    self._asking.add(task)
                    task.add_done_callback(self._asking.discard)
                await asyncio.sleep(LOOK_EVERY)
        finally:
            for task in self._asking:
                task.cancel()

    async def _ask(self, home: int, request: bytes) -> None:
        value = self._view.map
        owner = value.rows[home].owner if value is not None else ""
        if not owner:
            return
        self.asked += 1
        if owner == self._name:
            # The map says that it is ours and we have not taken it yet: nobody lends.
            return
        try:
            data = self._name.encode() + b" " + request
            self._node.grants_take(
                await self._engine.request(self._engine.names.grants(owner), data, ANSWER)
            )
        except EngineError:
            return
