"""Who is in, and who owns what.

Guarantees: a node is taken out of the map only after its key in the engine was overwritten, so that
it cannot renew; every map is put in the place of the one that it was made from, or not at all.
"""

import contextlib
import time

from gossamer.cluster.lease import boot_micros
from gossamer.cluster.map import (
    PartitionMap,
    rebalance,
    take_out,
)
from gossamer.cluster.messages import (
    Held,
    Leaving,
    Shutdown,
    Unregister,
    decode,
    encode,
)
from gossamer.control.roster import Known
from gossamer.control.sending import Sending
from gossamer.errors import (
    ConflictError,
    EngineError,
    UsageError,
)

SETTLE = 2.0
"""Seconds that a first assignment waits for more nodes than were asked for."""


class Placing(Sending):
    # --- who is in, and who owns what

    async def _place(self) -> None:
        value = self._view.map
        if value is None or isinstance(self._view.wanted, Shutdown):
            # Nodes that leave because all do keep what they have.
            return
        dead = await self._find_dead(value)
        living = {known.name for known in self._roster.nodes.values() if known.alive} - dead
        new = take_out(value, dead, living) if dead else value
        # Who is away for a moment, as in a restart, keeps what it has.
        targets = (living | (value.nodes() - dead)) - self._leaving
        if value.epoch == 0 and not self._enough(targets):
            return
        new = rebalance(new, targets or living)
        if new is not value and new != value:
            await self._view.change_map(new)
            self._say(f"map {new.epoch}: {len(targets)} nodes, {new.moving} partitions to move")

    def _enough(self, nodes: set[str]) -> bool:
        if not nodes:
            return False
        if len(nodes) >= self._expect and self._expect > 1:
            return True
        now = time.monotonic()
        self._first_node = self._first_node or now
        patience = SETTLE if self._expect == 1 else self._settings.cluster.rejoin
        return now - self._first_node >= min(patience, self._settings.cluster.lease)

    async def _find_dead(self, value: PartitionMap) -> set[str]:
        """Takes silent nodes out; gives those whose partitions have nobody."""
        dead: set[str] = set()
        for name in value.nodes():
            known = self._roster.expect(name)
            if known.word is None or known.alive or isinstance(known.word, Unregister):
                if await self._is_over(known):
                    dead.add(name)
            else:
                dead.add(name)
        for known in list(self._roster.nodes.values()):
            if known.alive and known.name not in value.nodes() and await self._is_over(known):
                dead.add(known.name)
        return dead

    async def _is_over(self, known: Known) -> bool:
        cluster = self._settings.cluster
        since_start = (boot_micros() - self._began) / 1e6
        if isinstance(known.word, Unregister) and not known.word.keeps:
            return await self._roster.take_out(known, "it left")
        patience = cluster.lease
        if not known.renewed or isinstance(known.word, Unregister):
            # Never seen to live since we look: it may be coming back, as after a power cut.
            patience = max(cluster.lease, cluster.rejoin)
            if since_start <= patience:
                return False
        if known.silent() <= patience:
            return False
        # Overwritten first: only what cannot renew any longer is taken out of the map.
        if not await self._roster.take_out(known, f"silent for {known.silent():.1f} s"):
            return False
        self._say(f"node {known.name} is taken out")
        self._events.append(f"{known.name} taken out")
        return True

    async def _read_leaving(self) -> None:
        entry = await self._view.crawls.get("leaving")
        if entry is not None and entry.revision != self._leaving_revision:
            self._leaving = set(decode(entry.value, Leaving, "a control node").nodes)
            self._leaving_revision = entry.revision

    async def _set_leaving(self, nodes: set[str]) -> None:
        message = Leaving(nodes=sorted(nodes))
        revision = await self._view.crawls.put("leaving", encode(message))
        self._leaving, self._leaving_revision = nodes, revision

    async def _set_held(self, node: str, *, hold: bool) -> None:
        while True:
            revision = await self._view.read_held()
            nodes = self._view.held | {node} if hold else self._view.held - {node}
            if revision is not None and nodes == self._view.held:
                return
            message = encode(Held(nodes=sorted(nodes)))
            with contextlib.suppress(ConflictError):
                await self._view.crawls.change("held", message, revision)
                self._view.held = nodes
                return

    async def _dismiss(self) -> None:
        """Nodes that were removed and own nothing any more may go."""
        value = self._view.map
        if value is None or not self._leaving:
            return
        for name in sorted(self._leaving - value.nodes()):
            known = self._roster.nodes.get(name)
            if known is not None and known.alive:
                with contextlib.suppress(EngineError, UsageError):
                    await self.ask_node(name, "shutdown")
            else:
                await self._set_leaving(self._leaving - {name})
                # Should it ever come back, it is a new one.
                await self._set_held(name, hold=False)
