"""Questions to crawl nodes: to one, or to all that live."""

import asyncio
from collections.abc import Callable

from gossamer.cluster.requests import ask_node
from gossamer.control.leader.membership import Membership
from gossamer.engine import Engine
from gossamer.errors import EngineAwayError, GossamerError

ANSWER = 10.0
SNAPSHOT_ANSWER = 300.0


class NodeRequests:
    """Asks the nodes of one crawl. The questions are the closed list in `cluster.questions`."""

    def __init__(self, engine: Engine, membership: Membership) -> None:
        self._engine = engine
        self._membership = membership

    async def ask(
        self, node: str, name: str, body: object = None, seconds: float = ANSWER
    ) -> object:
        """The node's answer; its error is raised as the kind that it was."""
        found: object = await ask_node(self._engine, node, name, body, seconds)
        return found

    async def ask_all(
        self, name: str, body: object = None, seconds: float = ANSWER
    ) -> dict[str, object]:
        """The same question to all that live; `{"error": …}` is the answer of one that failed.

        Asked are also those whose record the engine has lost: they may live. `EngineAwayError`: it is
        not known yet who there is.
        """
        return await self.ask_each(name, lambda _node: {} if body is None else body, seconds)

    async def ask_each(
        self, name: str, body: Callable[[str], object | None], seconds: float = ANSWER
    ) -> dict[str, object]:
        """The same, with a body for each of them; one whose body is None is not asked."""
        if not self._membership.complete:
            raise EngineAwayError("the nodes of this crawl were not read from the engine yet")

        async def one(node: str, of_it: object) -> object:
            try:
                return await self.ask(node, name, of_it, seconds)
            except GossamerError as error:
                return {"error": str(error)}

        names = sorted(known.name for known in self._membership.expected())
        bodies = {node: of_it for node in names if (of_it := body(node)) is not None}
        answers = await asyncio.gather(*(one(node, of_it) for node, of_it in bodies.items()))
        return dict(zip(bodies, answers, strict=True))

    async def snapshot_all(self) -> dict[str, object]:
        """Snapshots of everything, now; gives for each node how many, or its error."""
        return await self.ask_all("snapshot", seconds=SNAPSHOT_ANSWER)
