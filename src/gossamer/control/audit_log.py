"""The audit log: a line of JSON for every change somebody made, or tried to make.

Takes: who, what, the old and the new value. Guarantees: it is noted before the change is made, or the
change is not; the line is durable before the answer is sent; the file is only the owner's. In a
cluster the line is the same on every control node; without an engine it waits in this one's file of unsent records.
"""

import asyncio
import contextlib
import os
import secrets
import time
from collections.abc import AsyncIterator
from pathlib import Path

from pydantic import JsonValue, ValidationError

from gossamer.control.journal import Journal
from gossamer.control.replicated_logs import ReplicatedLogs
from gossamer.control.schemas import AuditEntry, Change
from gossamer.control.service import ServiceError, UnreachableError

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

    def __init__(self, file: Path, logs: ReplicatedLogs | None = None) -> None:
        """`logs`: who numbers lines and gives them back by `take`; None: we do."""
        self._file = file
        self._journal = Journal(file, AuditEntry, lambda entry: entry.id)
        self._logs = logs
        self._lock = asyncio.Lock()

    async def open(self) -> None:
        """Learns what earlier processes left."""
        await asyncio.to_thread(self._journal.open)
        await asyncio.to_thread(self._tell_begun)
        if self._logs is not None:
            self._logs.follow(KIND, self)

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
        for body in self._logs.unsent(KIND) if self._logs is not None else []:
            with contextlib.suppress(ValidationError):
                entries.append(AuditEntry.model_validate_json(body))
        return entries[-limit:]

    # --- a copy of the replicated log

    @property
    def newest(self) -> int:
        return self._journal.last

    async def take(self, number: int, body: bytes) -> None:
        with contextlib.suppress(ValidationError):
            entry = AuditEntry.model_validate_json(body).model_copy(update={"id": number})
            async with self._lock:
                await asyncio.to_thread(self._journal.append, entry, flush=False)

    def set_aside(self) -> None:
        self._journal.set_aside()

    # --- making a line

    async def _begin(self, line: Line) -> str:
        entry = line.entry().model_copy(
            update={"done": False, "detail": "begun; the control node ended before it was done"}
        )
        body = entry.model_dump_json().encode()
        try:
            if self._logs is not None:
                return await self._logs.begin(KIND, body)
            key = secrets.token_hex(8)
            await asyncio.to_thread(_note, self._begun(key), body)
        except OSError as error:
            # What cannot be accounted for is not done.
            words = f"nothing was done, because the audit log cannot be written: {error.strerror}"
            raise UnreachableError("no_audit", words) from error
        return key

    async def _end(self, key: str, entry: AuditEntry) -> None:
        if self._logs is not None:
            await self._logs.keep(KIND, entry.model_dump_json().encode(), key)
            return
        # A disk that is full by now: the note of the beginning stays, and the next start tells it.
        with contextlib.suppress(OSError):
            async with self._lock:
                entry = entry.model_copy(update={"id": self._journal.last + 1})
                await asyncio.to_thread(self._journal.append, entry)
            await asyncio.to_thread(self._begun(key).unlink)

    def _begun(self, key: str) -> Path:
        return self._file.with_name(f"{self._file.name}.begun-{key}")

    def _tell_begun(self) -> None:
        """Lines of changes that had begun when an earlier process ended."""
        for file in sorted(self._begun("").parent.glob(f"{self._begun('').name}*")):
            with contextlib.suppress(ValidationError):
                entry = AuditEntry.model_validate_json(file.read_bytes())
                entry = entry.model_copy(update={"id": self._journal.last + 1})
                self._journal.append(entry)
            file.unlink()


def _note(file: Path, body: bytes) -> None:
    handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.write(handle, body)
        os.fsync(handle)
    finally:
        os.close(handle)
