"""What a crawl takes on the disk beside its nodes, which count themselves: the engine's store, snapshots, `control/`.

Everything below the crawl's directory is counted, on a thread. The next look is due after two seconds, or after a hundred
times as long as the last one took, whichever is longer: so old the figure may be. Where the control node has a directory
of its own (`gossamer control` on many machines), that one.
"""

import asyncio
import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Final

from gossamer._native import disk_use

EVERY: Final = 2.0
SHARE: Final = 100
"""A look takes at most this part of the time, however many files there are."""


def crawl_directory(control: Path) -> Path:
    """The directory of the whole crawl, by the layout that `gossamer cluster` makes: DIR/crawl.toml and DIR/control."""
    whole = control.absolute().parent
    return whole if control.name == "control" and (whole / "crawl.toml").exists() else control


class DiskWatch:
    def __init__(self, control: Path, counted: Callable[[], Collection[str]]) -> None:
        """`counted`: the names of the nodes that tell by themselves what they take."""
        self._control = control
        self._counted = counted
        self.bytes = 0

    async def follow(self) -> None:
        while True:
            spent = await self.look()
            await asyncio.sleep(max(EVERY, spent * SHARE))

    async def look(self) -> float:
        """Counts now; gives the seconds that it took."""
        names = list(self._counted())

        def count() -> tuple[int, float]:
            begun = time.monotonic()
            directory = crawl_directory(self._control)
            used = disk_use(directory, [directory / "nodes" / name for name in names])
            return used, time.monotonic() - begun

        self.bytes, spent = await asyncio.to_thread(count)
        return spent
