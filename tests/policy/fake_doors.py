"""The native side of the doors, as docs/decisions/0017-five-doors.md promises it."""

import queue
import threading
import time
from typing import Any

from gossamer.policy import Batch


class FakeDoors:
    """Batches are put in by the test; answers and failures are waited for."""

    def __init__(self, patience: float = 60.0) -> None:
        self._patience = patience
        self._batches: dict[str, queue.Queue[Batch]] = {}
        self._given: dict[int, float] = {}
        self._changed = threading.Condition()
        self.closed = False
        self.answers: dict[int, dict[str, list[Any]]] = {}
        self.failed: dict[int, str] = {}
        self.kinds: dict[int, str] = {}
        """By batch, how it failed."""

    def put(self, batch: Batch) -> None:
        self._batches.setdefault(batch.door, queue.Queue()).put(batch)

    def next(self, door: str, wait: float) -> Batch | None:
        if self.closed:
            raise RuntimeError("the node is closed")
        try:
            batch = self._batches.setdefault(door, queue.Queue()).get(timeout=wait)
        except queue.Empty:
            return None
        self._given[batch.number] = time.monotonic()
        return batch

    def answer(self, number: int, columns: dict[str, list[Any]]) -> bool:
        if any("native refuses" in str(value) for value in columns.get("reason", [])):
            text = "reason: the native side does not like it"
            self.fail(number, text, "nonsense")
            raise ValueError(text)
        with self._changed:
            if time.monotonic() - self._given[number] > self._patience:
                return False
            self.answers[number] = columns
            self._changed.notify_all()
            return True

    def fail(self, number: int, reason: str, kind: str = "failed") -> bool:
        with self._changed:
            self.failed[number], self.kinds[number] = reason, kind
            self._changed.notify_all()
            return True

    def wait_for(self, number: int) -> dict[str, list[Any]] | str:
        """The answer to a batch, or the reason why there is none."""
        with self._changed:
            known = self._changed.wait_for(
                lambda: number in self.answers or number in self.failed, timeout=30
            )
            assert known, f"nothing was said of batch {number}"
            return self.answers.get(number) or self.failed[number]
