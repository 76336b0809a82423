"""A re-rank while fresh links hold the door of the order: the node waits for an answer, and does not spin."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path

from tests.native.doors import page, settings, site

from gossamer._native import Node

LINKS = [f"/x{n}" for n in range(6)]
PAGES = {"/": page(*LINKS)} | {link: page() for link in LINKS}


class Policy:
    """Answers slices of the queue when fresh links have come, and those only in the end."""

    def __init__(self, node: Node) -> None:
        self.doors = node.doors()
        self.fresh: list[tuple[int, int]] = []
        self.slices: list[tuple[int, int]] = []
        self.holds = False
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                batch = self.doors.next("order", 60.0)
            except RuntimeError:
                return
            if batch is None:
                continue
            if not self.holds:
                self._answer([(batch.number, len(batch))])
                continue
            fresh = any("/x" in url for url in batch.column("url"))
            (self.fresh if fresh else self.slices).append((batch.number, len(batch)))
            if self.fresh:
                self._answer(self.slices)

    def _answer(self, batches: list[tuple[int, int]]) -> None:
        while batches:
            number, rows = batches.pop()
            self.doors.answer(number, {"score": [0.5] * rows})

    def release(self) -> None:
        self.holds = False
        self._answer(self.fresh)


def test_a_rerank_without_a_place_at_the_door_does_not_spin(tmp_path: Path) -> None:
    with site({}) as slow, site(PAGES) as web:
        host = slow.url.removeprefix("http://")
        values = settings(
            {"order": {"columns": ["url"], "rows": 2}},
            politeness={"delay": "0s", "response_factor": 0, "overrides": {host: "1h"}},
            store={"fsync": "never", "batch_wait": "60s"},
        )
        node = Node(tmp_path, values)
        policy = Policy(node)
        # The gap of an hour keeps these in the queue.
        node.add_seeds([f"{slow.url}/{n}" for n in range(20)])
        node.add_seeds([web.url + "/"])
        policy.holds = True
        node.rerank()
        end = time.monotonic() + 60
        while len(policy.fresh) < 2:
            node.step(0.02)
            assert time.monotonic() < end, (policy.fresh, policy.slices)
        begun = time.thread_time()
        progress = json.loads(node.step(1.0))
        assert time.thread_time() - begun < 0.2, progress
        policy.release()
        node.close()
