"""The newsroom: events as they happen, kept for those who come later, told to those who watch.

Filled by the service, emptied by watchers. Bound: `KEPT` events in memory and `QUEUE` waiting for
each watcher; a watcher that is slower is cut off, and comes again with the last id it saw.
"""

import asyncio
import contextlib
import os
import time
from collections import deque
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

from pydantic import JsonValue, ValidationError

from gossamer.control.shapes import Event, EventKind, EventPage, Status

KEPT: Final = 5000
QUEUE: Final = 1000
_FILE_BYTES: Final = 16 * 1024 * 1024


class Newsroom:
    """Events of one crawl, in `events.jsonl`; the file before it is kept when it has grown."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._events: deque[Event] = deque(maxlen=KEPT)
        self._last = 0
        self._watchers: set[asyncio.Queue[Status | Event | None]] = set()
        self._status: Status | None = None
        self._closed = False

    def open(self) -> None:
        """Learns what earlier processes told, so that ids go on."""
        for file in (self._file.with_suffix(".jsonl.1"), self._file):
            with contextlib.suppress(FileNotFoundError):
                for line in file.read_bytes().splitlines():
                    with contextlib.suppress(ValidationError):
                        self._events.append(Event.model_validate_json(line))
        if self._events:
            self._last = self._events[-1].id

    def tell(
        self,
        kind: EventKind,
        text: str,
        *,
        node: str | None = None,
        host: str | None = None,
        who: str | None = None,
        data: dict[str, JsonValue] | None = None,
    ) -> Event:
        """Something happened."""
        self._last += 1
        event = Event(
            id=self._last, time=round(time.time(), 3), kind=kind, text=text[:1000],
            node=node, host=host, who=who, data=data or {},
        )  # fmt: skip
        self._events.append(event)
        # News are not worth stopping for: a full disk is told by an alert.
        with contextlib.suppress(OSError):
            self._write(event)
        self._send(event)
        return event

    def show(self, status: Status) -> None:
        """A new reading of the counters."""
        self._status = status
        self._send(status)

    def page(self, after: int | None, limit: int) -> EventPage:
        if after is None:
            return EventPage(events=list(self._events)[-limit:], next=None)
        events = [event for event in self._events if event.id > after]
        more = len(events) > limit
        events = events[:limit]
        return EventPage(events=events, next=events[-1].id if more else None)

    async def watch(self, after: int | None) -> AsyncIterator[Status | Event]:
        """What happened after an id, then everything as it happens."""
        queue: asyncio.Queue[Status | Event | None] = asyncio.Queue(QUEUE)
        self._watchers.add(queue)
        try:
            seen = self._last if after is None else after
            for event in [event for event in self._events if event.id > seen]:
                seen = event.id
                yield event
            if self._status is not None:
                yield self._status
            while not self._closed or not queue.empty():
                update = await queue.get()
                if update is None:
                    return
                if isinstance(update, Event) and update.id <= seen:
                    continue
                yield update
        finally:
            self._watchers.discard(queue)

    def close(self) -> None:
        """Lets every watcher go."""
        self._closed = True
        for queue in list(self._watchers):
            with contextlib.suppress(asyncio.QueueFull):
                queue.put_nowait(None)

    def _send(self, update: Status | Event) -> None:
        for queue in list(self._watchers):
            try:
                queue.put_nowait(update)
            except asyncio.QueueFull:
                self._watchers.discard(queue)
                queue.get_nowait()
                queue.put_nowait(None)

    def _write(self, event: Event) -> None:
        handle = os.open(self._file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(handle, event.model_dump_json().encode() + b"\n")
            full = os.fstat(handle).st_size > _FILE_BYTES
        finally:
            os.close(handle)
        if full:
            self._file.replace(self._file.with_suffix(".jsonl.1"))
