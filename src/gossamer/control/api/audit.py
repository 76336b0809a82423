"""The audit log: a line of JSON for every change somebody made, or tried to make.

Takes: who, what, the old and the new value. Guarantees: the line is durable before the answer is
sent; the file is only the owner's. In a cluster it is also noted before the change is made, and the
line is the same on every control node; without an engine it waits in this one's outbox.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from pathlib import Path

from pydantic import JsonValue, ValidationError

from gossamer.control.journal import Journal
from gossamer.control.records import Records
from gossamer.control.service import ServiceError, UnreachableError
from gossamer.control.shapes import AuditEntry, Change

KIND = "audit"


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
    """The lines of one crawl, in one file, numbered from 1."""

    def __init__(self, file: Path, records: Records | None = None) -> None:
        """`records`: who numbers lines and gives them back by `take`; None: we do."""
        self._journal = Journal(file, AuditEntry, lambda entry: entry.id)
        self._records = records
        self._lock = asyncio.Lock()

    async def open(self) -> None:
        """Learns what earlier processes left."""
        await asyncio.to_thread(self._journal.open)
        if self._records is not None:
            self._records.follow(KIND, self)

    @contextlib.asynccontextmanager
    async def change(
        self, who: str, what: str, target: str | None, *, new: JsonValue
    ) -> AsyncIterator[Line]:
        """Notes what the block does, also when it fails."""
        line = Line(who, what, target, new)
        key = await self._begin(line)
        try:
            yield line
        except BaseException as error:
            line.done = False
            line.detail = error.detail if isinstance(error, ServiceError) else repr(error)[:500]
            raise
        finally:
            await asyncio.shield(self._end(key, line.entry()))

    async def last(self, limit: int) -> list[AuditEntry]:
        """The last lines, oldest first; those that have no number yet at the end."""
        async with self._lock:
            entries = await asyncio.to_thread(self._journal.before, None, limit)
        entries.reverse()
        for body in self._records.unsent(KIND) if self._records is not None else []:
            with contextlib.suppress(ValidationError):
                entries.append(AuditEntry.model_validate_json(body))
        return entries[-limit:]

    # --- a shelf of the records

    @property
    def newest(self) -> int:
        return self._journal.last

    def take(self, number: int, body: bytes) -> None:
        with contextlib.suppress(ValidationError):
            entry = AuditEntry.model_validate_json(body)
            self._journal.append(entry.model_copy(update={"id": number}), flush=False)

    def set_aside(self) -> None:
        self._journal.set_aside()

    # --- making a line

    async def _begin(self, line: Line) -> str | None:
        if self._records is None:
            return None
        entry = line.entry().model_copy(
            update={"done": False, "detail": "begun; the control node ended before it was done"}
        )
        try:
            return await self._records.begin(KIND, entry.model_dump_json().encode())
        except OSError as error:
            # What cannot be accounted for is not done.
            words = f"nothing was done, because the audit log cannot be written: {error.strerror}"
            raise UnreachableError("no_audit", words) from error

    async def _end(self, key: str | None, entry: AuditEntry) -> None:
        if self._records is not None:
            await self._records.keep(KIND, entry.model_dump_json().encode(), key)
            return
        async with self._lock:
            entry = entry.model_copy(update={"id": self._journal.last + 1})
            await asyncio.to_thread(self._journal.append, entry)
