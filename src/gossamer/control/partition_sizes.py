"""Hosts, queued URLs and pages of each partition of a cluster, as their owners count them.

Asked for when somebody looks, so that the figures are of that moment also in a crawl of seconds; many who
look within `FRESH` seconds cost as one. Of an owner that does not answer, the last answer counts.
"""

import asyncio
import contextlib
from typing import Final

from gossamer.clock import SYSTEM, Clock
from gossamer.control.leader.control_node import ControlNode
from gossamer.errors import GossamerError

FRESH: Final = 2.0
ANSWER: Final = 3.0
"""Seconds that an owner has to answer."""


class PartitionSizes:
    """Asks the nodes of one crawl."""

    def __init__(self, node: ControlNode, clock: Clock = SYSTEM) -> None:
        self._node = node
        self._clock = clock
        self._known: dict[int, tuple[int, int, int]] = {}
        self._asked: float | None = None
        self._asking = asyncio.Lock()

    async def now(self) -> dict[int, tuple[int, int, int]]:
        """By partition; one that nobody has told of is not there."""
        async with self._asking:
            if self._asked is None or self._clock.monotonic() - self._asked > FRESH:
                with contextlib.suppress(GossamerError):
                    self._take(await self._node.requests.ask_all("partition_sizes", seconds=ANSWER))
                    self._asked = self._clock.monotonic()
        return self._known

    def _take(self, answers: dict[str, object]) -> None:
        value = self._node.state.map
        for number, row in enumerate(value.rows if value else ()):
            sizes = answers.get(row.owner)
            if isinstance(sizes, list) and number < len(sizes):
                hosts, queued, pages = sizes[number]
                self._known[number] = (hosts, queued, pages)
