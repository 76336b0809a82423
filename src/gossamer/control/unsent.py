"""Records that the engine has not acknowledged yet, in `unsent.jsonl`.

Filled by whoever has something to tell, emptied by the sender of `replicated_logs`. Guarantees: a record
that was added is sent, by this process or by the next one in this directory; one that was only begun,
because the process ended before it was known how it ends, is sent as that. The file is written by one
thread of its own, in order, so the event loop never waits for a disk.
"""

import asyncio
import contextlib
import functools
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec


class Unsent(msgspec.Struct):
    key: str
    kind: str
    body: str
    begun: bool = False
    """What is told is still under way: not to be sent yet."""


class UnsentRecords:
    """One file. Not for use by two processes; all calls but `open` from the event loop."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="unsent")
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
        return [one for one in self._waiting.values() if not one.begun and kind in {None, one.kind}]

    def post(self, one: Unsent) -> None:
        """Takes a record that nobody waits for: it is in the file soon, if that can be written."""
        self._note(one)
        self._writer.submit(self._append, one, durable=False)

    async def add(self, one: Unsent) -> None:
        """Takes a record, durably; one with the same key is replaced. `OSError`: not in the file."""
        self._note(one)
        try:
            await self._write(functools.partial(self._append, one, durable=True))
        except OSError:
            if one.begun:
                # It is not done, so it is not to be told either.
                self._waiting.pop(one.key, None)
            raise

    async def drop(self, key: str) -> None:
        """It is kept elsewhere now, or was never to be told."""
        self._waiting.pop(key, None)
        if not self._waiting:
            await self._write(self._empty)

    async def _write(self, what: Callable[[], None]) -> None:
        await asyncio.get_running_loop().run_in_executor(self._writer, what)

    def _note(self, one: Unsent) -> None:
        self._waiting.pop(one.key, None)
        self._waiting[one.key] = one

    def _append(self, one: Unsent, *, durable: bool) -> None:
        # After a cut line this one begins anew.
        line = b"\n" + msgspec.json.encode(one) + b"\n"
        handle = os.open(self._file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(handle, line)
            if durable:
                os.fsync(handle)
        finally:
            os.close(handle)

    def _empty(self) -> None:
        with contextlib.suppress(OSError):
            os.truncate(self._file, 0)
