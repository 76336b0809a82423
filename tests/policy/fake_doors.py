"""The native side of the doors, as docs/decisions/0017-five-doors.md promises it."""

import queue
import threading
from collections.abc import Collection
from typing import Any

from gossamer.policy import Batch


class FakeDoors:
    """Batches are put in by the test; answers and failures are waited for."""

    def __init__(self, late: Collection[int] = ()) -> None:
        """`late`: numbers of the batches whose answers come too late, whatever the clock says."""
        self._late = late
        self._batches: dict[str, queue.Queue[Batch]] = {}
        self._changed = threading.Condition()
        self._asked = 0
        # By number of a batch: how often a batch had been asked for when its late answer came.
        self._late_answers: dict[int, int] = {}
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
        with self._changed:
            self._asked += 1
            self._changed.notify_all()
        try:
            return self._batches.setdefault(door, queue.Queue()).get(timeout=wait)
        except queue.Empty:
            return None

    def answer(self, number: int, columns: dict[str, list[Any]]) -> bool:
        if any("native refuses" in str(value) for value in columns.get("reason", [])):
            text = "reason: the native side does not like it"
            self.fail(number, text, "nonsense")
            raise ValueError(text)
        with self._changed:
            if number in self._late:
                self._late_answers[number] = self._asked
                return False
            self.answers[number] = columns
            self._changed.notify_all()
            return True

    def fail(self, number: int, reason: str, kind: str = "failed") -> bool:
        with self._changed:
            self.failed[number], self.kinds[number] = reason, kind
            self._changed.notify_all()
            return True

    def wait_until_done_with(self, number: int) -> None:
        """Until the door has given its late answer, and asks for a further batch."""
        with self._changed:
            assert self._changed.wait_for(
                lambda: self._asked > self._late_answers.get(number, self._asked), timeout=30
            )

    def wait_for(self, number: int) -> dict[str, list[Any]] | str:
        """The answer to a batch, or the reason why there is none."""
        with self._changed:
            known = self._changed.wait_for(
                lambda: number in self.answers or number in self.failed, timeout=30
            )
            assert known, f"nothing was said of batch {number}"
            return self.answers.get(number) or self.failed[number]
