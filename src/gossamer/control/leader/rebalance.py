"""Who owns which partition: lost nodes are taken out, the rest is spread evenly.

Guarantees: a node is taken out of the assignment only after its key in the engine was overwritten, so
that it cannot renew; every assignment is put in the place of the one that it was made from, or not at
all.
"""

from collections.abc import Callable

from gossamer.clock import SYSTEM, Clock
from gossamer.cluster.assignment import Assignment, rebalance, take_out
from gossamer.cluster.crawl_state import CrawlState
from gossamer.cluster.messages import Shutdown, Unregister
from gossamer.control.leader.drain import Drain
from gossamer.control.leader.live_settings import LiveSettings
from gossamer.control.leader.membership import LEFT, KnownNode, Membership
from gossamer.logging import logger

_log = logger("assignment")

SETTLE = 2.0
"""Seconds that a first assignment waits for more nodes than were asked for."""


class Rebalance:
    def __init__(
        self,
        state: CrawlState,
        *,
        membership: Membership,
        drain: Drain,
        settings: LiveSettings,
        expect: int,
        note: Callable[[str], None],
        clock: Clock = SYSTEM,
    ) -> None:
        """`expect`: nodes to wait for before the first assignment. `note`: for the last events."""
        self._state = state
        self._membership = membership
        self._drain = drain
        self._settings = settings
        self._expect = expect
        self._note = note
        self._clock = clock
        self._began = self._clock.micros()
        self._first_node = 0.0

    def forget_engine(self) -> None:
        """The engine is a new one: everybody has time again."""
        self._began = self._clock.micros()

    async def round(self) -> None:
        value = self._state.map
        if value is None or isinstance(self._state.wanted, Shutdown):
            # Nodes that leave because all do keep what they have.
            return
        dead = await self._find_lost(value)
        living = {known.name for known in self._membership.living()} - dead
        new = take_out(value, dead, living) if dead else value
        # Who is away for a moment, as in a restart, keeps what it has.
        targets = (living | (value.nodes() - dead)) - self._drain.nodes
        if value.epoch == 0 and not self._enough(targets):
            return
        new = rebalance(new, targets or living)
        if new is not value and new != value:
            await self._state.change_map(new)
            _log.info("new assignment", map=new.epoch, nodes=len(targets), moves=new.moving)

    def _enough(self, nodes: set[str]) -> bool:
        if not nodes:
            return False
        if len(nodes) >= self._expect and self._expect > 1:
            return True
        cluster, now = self._settings.current.cluster, self._clock.monotonic()
        self._first_node = self._first_node or now
        patience = SETTLE if self._expect == 1 else cluster.rejoin
        return now - self._first_node >= min(patience, cluster.lease)

    async def _find_lost(self, value: Assignment) -> set[str]:
        """Takes silent nodes out; gives those whose partitions have nobody."""
        dead: set[str] = set()
        for name in value.nodes():
            known = self._membership.expect(name)
            if known.record is None or known.alive or isinstance(known.record, Unregister):
                if await self._is_lost(known):
                    dead.add(name)
            else:
                dead.add(name)
        for known in list(self._membership.nodes.values()):
            if known.alive and known.name not in value.nodes() and await self._is_lost(known):
                dead.add(known.name)
        return dead

    async def _is_lost(self, known: KnownNode) -> bool:
        cluster = self._settings.current.cluster
        since_start = (self._clock.micros() - self._began) / 1e6
        if isinstance(known.record, Unregister) and not known.record.keeps:
            return await self._membership.take_out(known, LEFT)
        patience = cluster.lease
        if not known.renewed or isinstance(known.record, Unregister):
            # Never seen to live since we look: it may be coming back, as after a power cut.
            patience = max(cluster.lease, cluster.rejoin)
            if since_start <= patience:
                return False
        if known.silent() <= patience:
            return False
        # Overwritten first: only what cannot renew any longer is taken out of the assignment.
        if not await self._membership.take_out(known, f"silent for {known.silent():.1f} s"):
            return False
        _log.warning("a node is taken out", name=known.name, silent=round(known.silent(), 1))
        self._note(f"{known.name} taken out")
        return True
