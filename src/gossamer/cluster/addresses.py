"""A node's side of the lending of addresses: it asks the homes, and is the home of some.

The homes that we own ourselves are asked without a message. No answer means no grant: the visits
wait, and we ask again.
"""

import asyncio
import time
from collections.abc import Callable

from gossamer.cluster.grants import Grants
from gossamer.cluster.messages import AddressAnswer, AddressAsk, decode, encode
from gossamer.cluster.native import NativeNode
from gossamer.cluster.view import View
from gossamer.engine import Engine
from gossamer.errors import EngineError, VersionError

LOOK_EVERY = 0.02
ASK_AGAIN = 0.1
RENEW_EVERY = 1.0
MOST = 2000
ANSWER = 1.0

Row = tuple[str, float, float]


class Addresses:
    def __init__(
        self,
        node: NativeNode,
        *,
        name: str,
        incarnation: str,
        engine: Engine,
        view: View,
        grants: Grants,
        home: Callable[[str], int],
        holds: Callable[[int], bool],
    ) -> None:
        self._node = node
        self._name = name
        self._incarnation = incarnation
        self._engine = engine
        self._view = view
        self._grants = grants
        self._home = home
        self._holds = holds
        self._asked: dict[str, float] = {}
        self._renewed = 0.0
        self.asked = 0
        self.granted = 0

    async def answer(self, data: bytes) -> bytes:
        """As a home: a batch of another node."""
        try:
            ask = decode(data, AddressAsk, "a node")
        except VersionError:
            return encode(AddressAnswer(rows=[]))
        return encode(AddressAnswer(rows=self._lend(ask.node, ask.wanted, ask.busy)))

    def _lend(self, node: str, wanted: list[str], busy: list[str]) -> list[Row]:
        """Only of homes that we really hold now: the asker's map may be older or newer."""
        return self._grants.ask(
            node,
            [one for one in wanted if self._holds(self._home(one))],
            [one for one in busy if self._holds(self._home(one))],
            self._home,
        )

    async def run(self) -> None:
        while True:
            await self.round()
            await asyncio.sleep(LOOK_EVERY)

    async def round(self) -> None:
        wanted, busy = self._node.addresses()
        now = time.monotonic()
        if now - self._renewed < RENEW_EVERY:
            busy = []
        elif busy:
            self._renewed = now
        wanted = [one for one in wanted if now - self._asked.get(one, 0.0) >= ASK_AGAIN][:MOST]
        if not wanted and not busy:
            return
        self._asked = {one: at for one, at in self._asked.items() if now - at < ASK_AGAIN}
        self._asked.update(dict.fromkeys(wanted, now))
        value = self._view.map
        if value is None:
            return
        batches: dict[str, tuple[list[str], list[str]]] = {}
        for place, addresses in enumerate((wanted, busy)):
            for address in addresses:
                owner = value.rows[self._home(address)].owner
                if owner:
                    batches.setdefault(owner, ([], []))[place].append(address)
        await asyncio.gather(*(self._ask(owner, *batch) for owner, batch in batches.items()))

    async def _ask(self, owner: str, wanted: list[str], busy: list[str]) -> None:
        begun = time.time()
        self.asked += 1
        if owner == self._name:
            rows = self._lend(self._name, wanted, busy)
        else:
            ask = AddressAsk(
                node=self._name, incarnation=self._incarnation, wanted=wanted, busy=busy
            )
            subject = self._engine.names.grants(owner)
            try:
                data = await self._engine.request(subject, encode(ask), ANSWER)
                rows = decode(data, AddressAnswer, f"node {owner}").rows
            except (EngineError, VersionError):
                return
        self.granted += len(rows)
        # From the moment at which we asked: the home counts from later, so ours ends first.
        self._node.grant(
            [
                (address, round((begun + lasts) * 1e6), round((time.time() + wait) * 1e6))
                for address, lasts, wait in rows
            ]
        )
