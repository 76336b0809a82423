"""The audit log: a line of JSON for every change somebody made, or tried to make.

Takes: who, what, the old and the new value. Guarantees: the line is on the disk before the answer
is sent; the file is only the owner's.
"""

import asyncio
import contextlib
import os
import time
from collections import deque
from collections.abc import AsyncIterator
from pathlib import Path

from pydantic import JsonValue

from gossamer.control.service import ServiceError
from gossamer.control.shapes import AuditEntry, Change

KEPT = 500
"""Lines that are kept in memory for `last`."""

_TAIL = 256 * 1024


class Line:
    """An entry being made."""

    def __init__(self, who: str, what: str, target: str | None, new: JsonValue) -> None:
        self.who = who
        self.what = what
        self.target = target
        self.old: JsonValue = None
        self.new = new
        self.done = True
        self.detail: str | None = None

    def take(self, change: Change) -> None:
        """Old and new values as they were found and made."""
        self.old = {value.name: value.old for value in change.values}
        self.new = {value.name: value.new for value in change.values}

    def entry(self) -> AuditEntry:
        return AuditEntry(
            time=round(time.time(), 3), who=self.who, what=self.what, target=self.target,
            old=self.old, new=self.new, done=self.done, detail=self.detail,
        )  # fmt: skip


class AuditLog:
    """Appends to one file, one line at a time."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = asyncio.Lock()
        self._last: deque[AuditEntry] | None = None

    @contextlib.asynccontextmanager
    async def change(
        self, who: str, what: str, target: str | None, *, new: JsonValue
    ) -> AsyncIterator[Line]:
        """Notes what the block does, also when it fails."""
        line = Line(who, what, target, new)
        try:
            yield line
        except BaseException as error:
            line.done = False
            line.detail = error.detail if isinstance(error, ServiceError) else repr(error)[:500]
            raise
        finally:
            await asyncio.shield(self._append(line.entry()))

    async def last(self, limit: int) -> list[AuditEntry]:
        async with self._lock:
            entries = await self._entries()
            return list(entries)[-limit:]

    async def _append(self, entry: AuditEntry) -> None:
        async with self._lock:
            entries = await self._entries()
            await asyncio.to_thread(self._write, entry)
            entries.append(entry)

    async def _entries(self) -> deque[AuditEntry]:
        if self._last is None:
            self._last = deque(await asyncio.to_thread(self._read), maxlen=KEPT)
        return self._last

    def _write(self, entry: AuditEntry) -> None:
        handle = os.open(self._file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(handle, entry.model_dump_json().encode() + b"\n")
            os.fsync(handle)
        finally:
            os.close(handle)

    def _read(self) -> list[AuditEntry]:
        if not self._file.exists():
            return []
        with self._file.open("rb") as file:
            file.seek(max(0, self._file.stat().st_size - _TAIL))
            lines = file.read().splitlines()
        entries = []
        for line in lines:
            # The first line may be cut, and so may the last one after a power cut.
            with contextlib.suppress(ValueError):
                entries.append(AuditEntry.model_validate_json(line))
        return entries
