"""Seeds that come while the file of seeds is read are not forgotten."""

import asyncio
import threading
from pathlib import Path
from unittest.mock import Mock

from tests.simulation.crawls import PretendedSeeds, seeds

from gossamer.control.leader.backup import Backup, Seed
from gossamer.control.leader.seed_queue import SeedQueue


class SlowBackup(Backup):
    """Reading takes as long as it takes another thread to write, if that one may."""

    written = threading.Event()

    def seeds(self) -> list[Seed]:
        found = super().seeds()
        self.written.wait(0.5)
        return found

    def add_seeds(self, urls: list[str], hops: int = 0) -> None:
        super().add_seeds(urls, hops)
        self.written.set()


async def test_seeds_added_while_the_file_is_read_are_kept(tmp_path: Path) -> None:
    # Only the file and the list take part; nobody leads.
    state = Mock(crawl=None)
    queue = SeedQueue(
        state, Mock(), membership=Mock(), settings=Mock(), backup=SlowBackup(tmp_path), coder=PretendedSeeds(),
        leading=lambda: False, added=lambda: None,
    )  # fmt: skip
    load = asyncio.ensure_future(queue.load())
    await asyncio.sleep(0)
    await queue.add(seeds(0))
    await load
    assert queue.first(10) == seeds(0)
