"""The outbox: records that the engine has not acknowledged yet, in `unsent.jsonl`.

Filled by whoever has something to tell, emptied by the sender of `records`. Guarantees: a record that
was added durably is sent, by this process or by the next one in this directory; one that was only
begun, because the process ended before it was known how it ends, is sent as that.
"""

import contextlib
import os
import threading
from pathlib import Path

import msgspec


class Unsent(msgspec.Struct):
    key: str
    kind: str
    body: str
    begun: bool = False
    """What is told is still under way: not to be sent yet."""


class Outbox:
    """One file. Not for use by two processes."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = threading.Lock()
        self._waiting: dict[str, Unsent] = {}

    def open(self) -> None:
        """Learns what an earlier process did not get rid of."""
        with contextlib.suppress(FileNotFoundError):
            for line in self._file.read_bytes().splitlines():
                # The last line of a crash may be cut.
                with contextlib.suppress(msgspec.MsgspecError):
                    one = msgspec.json.decode(line, type=Unsent)
                    self._waiting[one.key] = one
        for one in self._waiting.values():
            one.begun = False

    def __len__(self) -> int:
        return len(self._waiting)

    def waiting(self, kind: str | None = None) -> list[Unsent]:
        """What can be sent, in the order in which it happened."""
        with self._lock:
            found = list(self._waiting.values())
        return [one for one in found if not one.begun and kind in {None, one.kind}]

    def add(self, one: Unsent, *, durable: bool) -> None:
        """Takes a record; one with the same key is replaced."""
        with self._lock:
            self._waiting.pop(one.key, None)
            self._waiting[one.key] = one
            # After a cut line this one begins anew.
            line = b"\n" + msgspec.json.encode(one) + b"\n"
            handle = os.open(self._file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                os.write(handle, line)
                if durable:
                    os.fsync(handle)
            finally:
                os.close(handle)

    def drop(self, key: str) -> None:
        """It is kept elsewhere now, or was never to be told."""
        with self._lock:
            self._waiting.pop(key, None)
            if not self._waiting:
                with contextlib.suppress(OSError):
                    os.truncate(self._file, 0)
