"""What an operator may order. Changes go into the engine and are carried out by every node that lives,
also by those that join later; so a command survives the death of whoever gave it.
"""

from collections.abc import Callable, Sequence

from gossamer.clock import SYSTEM, Clock
from gossamer.cluster.assignment import move
from gossamer.cluster.crawl_state import CrawlState
from gossamer.cluster.messages import Evicted, Pause, Resume, Shutdown, Wanted
from gossamer.cluster.requests import persist
from gossamer.control.leader.drain import Drain
from gossamer.control.leader.membership import Membership, Presence
from gossamer.control.leader.node_requests import NodeRequests
from gossamer.control.leader.seed_queue import SeedQueue
from gossamer.errors import ConflictError, EngineAwayError, UsageError

PATIENCE = 15.0
"""Seconds that a command waits for an engine that is away."""


class Commands:
    """Every control node has them; those that need the leader are sent to it by who offers them."""

    def __init__(
        self,
        state: CrawlState,
        *,
        membership: Membership,
        drain: Drain,
        seeds: SeedQueue,
        requests: NodeRequests,
        restarted: Callable[[], None],
        clock: Clock = SYSTEM,
    ) -> None:
        """`restarted`: called when there may be something to do again."""
        self._state = state
        self._membership = membership
        self._drain = drain
        self._seeds = seeds
        self._requests = requests
        self._restarted = restarted
        self._clock = clock

    async def _want(self, wanted: Wanted) -> None:
        # Setting it twice is harmless, and an operator should not have to.
        await persist(lambda: self._state.want(wanted), PATIENCE)

    async def pause(self) -> None:
        await self._want(Pause(since=self._clock.now()))

    async def resume(self) -> None:
        self._restarted()
        await self._want(Resume(since=self._clock.now()))

    async def stop(self, reason: str = "stopped by command") -> None:
        await self._want(Shutdown(since=self._clock.now(), reason=reason))

    async def finish(self) -> None:
        """The crawl is over: everybody saves and ends."""
        await self._want(Shutdown(since=self._clock.now(), reason="done", done=True))

    async def checkpoint(self) -> dict[str, object]:
        """Snapshots of everything, now; gives for each node how many, or its error."""
        return await self._requests.snapshot_all()

    async def rerank(self) -> dict[str, object]:
        """Every node puts what is queued in the order of the settings; gives who has begun."""
        return await self._requests.ask_all("rerank")

    async def resend(self, since: float) -> dict[str, object]:
        """Every node sends the links again that it sent since then; so do we with the seeds."""
        await self._seeds.send_all_again()
        self._restarted()
        return await self._requests.ask_all("resend", {"since_us": round(since * 1e6)})

    async def add_seeds(self, urls: list[str]) -> list[tuple[str, str]]:
        """Gives those that were refused, with the reason."""
        return await self._seeds.add(urls)

    async def add_redirected(self, seeds: list[tuple[str, int]]) -> list[tuple[str, str]]:
        """The same for targets of seeds' redirects, each with the redirects that led to it."""
        refused = []
        for hops in sorted({hops for _url, hops in seeds}):
            refused += await self._seeds.add([url for url, n in seeds if n == hops], hops)
        return refused

    # --- nodes

    def presence(self, node: str) -> Presence:
        value = self._state.map
        return self._membership.presence(node, value.nodes() if value is not None else ())

    def _check_lives(self, node: str) -> None:
        """Wrong use is only a name that the engine, when it was asked, did not have."""
        presence = self.presence(node)
        if presence is Presence.UNKNOWN:
            raise EngineAwayError(
                f"the engine has no record of node {node} now; it may have lost it"
            )
        if presence is not Presence.LIVES:
            raise UsageError(
                f"there is no node {node} in this crawl", do="`gossamer nodes` lists them"
            )

    def _check_not_last(self, node: str) -> None:
        others = {known.name for known in self._membership.living()} - self._drain.nodes - {node}
        if others:
            return
        unknown = {known.name for known in self._membership.expected()} - self._drain.nodes - {node}
        if unknown or not self._membership.complete:
            raise EngineAwayError(f"it is not known now whether a node besides {node} lives")
        raise UsageError(f"{node} is the last node", do="stop the crawl instead")

    async def remove_node(self, node: str) -> None:
        """The node hands everything over and ends; one that was lost is forgotten."""
        known = self._membership.nodes.get(node)
        if known is not None and isinstance(known.record, Evicted):
            value = self._state.map
            if value is not None and node in value.nodes():
                raise UsageError(
                    f"{node} still owns partitions, which others are about to get",
                    do="ask again when they have them",
                )
            await self._membership.forget(known)
            return
        self._check_lives(node)
        self._check_not_last(node)
        await self._drain.set(self._drain.nodes | {node})
        self._state.hint.set()

    async def keep_node(self, node: str) -> None:
        """Calls a removal off."""
        await self._drain.set(self._drain.nodes - {node})
        self._state.hint.set()

    async def hold_node(self, node: str, *, hold: bool) -> None:
        """Holds one node back, or lets it go; kept in the engine until it is changed."""
        self._check_lives(node)
        await self._state.set_held(node, hold=hold)

    async def move(self, partitions: Sequence[int], node: str) -> None:
        self._check_lives(node)
        while True:
            value = await self._state.read_map()
            if value is None:
                raise EngineAwayError("there is no map yet")
            if any(not 0 <= number < len(value.rows) for number in partitions):
                raise UsageError(
                    "there is no such partition",
                    do=f"they are numbered from 0 to {len(value.rows) - 1}",
                )
            try:
                await self._state.change_map(move(value, partitions, node))
            except ConflictError:
                continue
            return
