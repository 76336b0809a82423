"""Nodes that were removed by command: they hand everything over, then are told to end."""

import contextlib

from gossamer.cluster.crawl_state import CrawlState
from gossamer.cluster.messages import Leaving, decode, encode
from gossamer.control.leader.membership import Membership
from gossamer.control.leader.node_requests import NodeRequests
from gossamer.errors import GossamerError


class Drain:
    """Key `leaving` in the engine: so a removal survives whoever ordered it."""

    def __init__(
        self, state: CrawlState, *, membership: Membership, requests: NodeRequests
    ) -> None:
        self._state = state
        self._membership = membership
        self._requests = requests
        self._revision: int | None = None
        self.nodes: set[str] = set()

    def forget_engine(self) -> None:
        """The engine is a new one: its revisions mean nothing."""
        self._revision = None

    async def refresh(self) -> None:
        entry = await self._state.crawls.get("leaving")
        if entry is not None and entry.revision != self._revision:
            self.nodes = set(decode(entry.value, Leaving, "a control node").nodes)
            self._revision = entry.revision

    async def set(self, nodes: set[str]) -> None:
        message = Leaving(nodes=sorted(nodes))
        self._revision = await self._state.crawls.put("leaving", encode(message))
        self.nodes = nodes

    async def round(self) -> None:
        """Nodes that own nothing any more may go."""
        value = self._state.map
        if value is None or not self.nodes:
            return
        for name in sorted(self.nodes - value.nodes()):
            known = self._membership.nodes.get(name)
            if known is not None and known.alive:
                with contextlib.suppress(GossamerError):
                    await self._requests.ask(name, "shutdown")
            else:
                await self.set(self.nodes - {name})
                # Should it ever come back, it is a new one.
                await self._state.set_held(name, hold=False)
