"""The doors of a node: a thread for each that has called policies.

Takes batches from the native side, calls the policies once for each, and gives the answers back. A policy
that raises, gives nonsense or is late is reported; the native default goes on without it, and after three
failures in a row the native side lets the door rest. A policy that hangs holds only the thread of its door.
The native side counts answers and failures (`Progress.doors`).

Filled by the native side (at most two batches a door), emptied by the door's thread.
"""

import contextlib
import threading
import time
from collections.abc import Callable
from typing import Any, Final, Protocol

from gossamer.policy.ask import FailedError, Failure, ask
from gossamer.policy.batch import Batch
from gossamer.policy.chosen import Policies
from gossamer.policy.doors import DOORS
from gossamer.settings import CrawlSettings

WAIT: Final = 0.2
"""Seconds that a thread waits for a batch: how soon it notices the end."""

END: Final = 2.0
"""Seconds that a policy may still take when the node ends."""


class NativeDoors(Protocol):
    """`_native.Doors`; the calls wait without the interpreter lock."""

    def next(self, door: str, wait: float) -> Batch | None: ...
    def answer(self, number: int, columns: dict[str, list[Any]]) -> bool: ...
    def fail(self, number: int, reason: str, kind: str = "failed") -> bool: ...


def patience(settings: CrawlSettings) -> dict[str, float]:
    """Seconds that each door waits for an answer."""
    doors = settings.doors
    return {door: doors.pages_patience if door == "pages" else doors.patience for door in DOORS}


class Doors:
    """The threads. `report` is called in them, once for each batch that failed."""

    def __init__(
        self,
        policies: Policies,
        settings: CrawlSettings,
        report: Callable[[Failure], None],
    ) -> None:
        self._policies = policies.called
        self._names = {
            door: "+".join(policy.name for policy in called)
            for door, called in policies.called.items()
        }
        self._patience = patience(settings)
        self._report = report
        self._lock = threading.Lock()
        # By door, while its policies work: since when, and whether that was reported already.
        self._working: dict[str, tuple[float, bool]] = {}
        self._ended = threading.Event()
        self._threads: list[threading.Thread] = []

    def start(self, native: NativeDoors) -> None:
        """Begins to ask. Without a called policy there is no thread at all."""
        if not self._policies:
            return
        runs: list[tuple[str, Callable[..., None], tuple[Any, ...]]] = [
            (f"door-{door}", self._serve, (native, door)) for door in self._policies
        ]
        runs.append(("door-watch", self._watch, ()))
        # A policy that hangs must not keep the process from ending.
        self._threads = [
            threading.Thread(target=run, args=arguments, name=name, daemon=True)
            for name, run, arguments in runs
        ]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """Ends the threads; one that hangs in a policy is left behind."""
        self._ended.set()
        end = time.monotonic() + END
        for thread in self._threads:
            thread.join(max(0.0, end - time.monotonic()))

    def _serve(self, native: NativeDoors, door: str) -> None:
        while not self._ended.is_set():
            try:
                batch = native.next(door, WAIT)
            except RuntimeError:
                # The node is closed.
                self._ended.set()
                return
            if batch is not None:
                self._judge_safely(native, door, batch)

    def _judge_safely(self, native: NativeDoors, door: str, batch: Batch) -> None:
        """Whatever a policy brings about, its door goes on."""
        try:
            self._judge(native, door, batch)
        except Exception as error:  # noqa: BLE001  anybody's code, and what it raises
            with self._lock:
                self._working.pop(door, None)
            with contextlib.suppress(RuntimeError, ValueError):
                native.fail(batch.number, f"{type(error).__name__} where the answer was handled")

    def _judge(self, native: NativeDoors, door: str, batch: Batch) -> None:
        with self._lock:
            self._working[door] = (time.monotonic(), False)
        failure = None
        columns = {}
        try:
            columns = ask(batch, self._policies[door])
        except FailedError as error:
            failure = error.failure
        with self._lock:
            _begun, told = self._working.pop(door)
        if failure is not None:
            self._report(failure)
            # A policy that raised has failed; one that answered has answered nonsense.
            kind = "nonsense" if failure.kind == "nonsense" else "failed"
            native.fail(batch.number, str(failure), kind)
            return
        try:
            in_time = native.answer(batch.number, columns)
        except ValueError as error:
            # The native side checks again, and has let the batch go.
            self._report(Failure(door, self._names[door], "nonsense", str(error)))
            return
        if not in_time and not told:
            self._report(self._late(door))

    def _watch(self) -> None:
        """Reports a policy that is late while it still works: it may never come back."""
        while not self._ended.wait(WAIT):
            now = time.monotonic()
            late = []
            with self._lock:
                for door, (begun, told) in self._working.items():
                    if now - begun > self._patience[door] and not told:
                        self._working[door] = (begun, True)
                        late.append(door)
            for door in late:
                self._report(self._late(door))

    def _late(self, door: str) -> Failure:
        text = f"no answer within {self._patience[door]:g} s"
        return Failure(door, self._names[door], "late", text)
