"""The event log: events as they happen, kept for those who come later, told to those who watch.

Filled by the service, emptied by watchers. Bound: `KEPT` events in memory and `QUEUE` waiting for
each watcher; a watcher that is slower is cut off, and comes again with the last id it saw. The file is
written by one thread of its own: an event is in memory at once and in the file soon.
"""

import asyncio
import contextlib
import os
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from pydantic import JsonValue, ValidationError

from gossamer.control.schemas import Event, EventKind, EventPage, SeedSubmission, Status

KEPT: Final = 5000
QUEUE: Final = 1000
_FILE_BYTES: Final = 16 * 1024 * 1024


class EventLog:
    """Events of one crawl, in `events.jsonl`; the file before it is kept when it has grown."""

    def __init__(self, file: Path, post: Callable[[bytes, str | None], None] | None = None) -> None:
        """`post`: who numbers what is told here, and gives it back by `take`; None: we do."""
        self._file = file
        self._post = post
        self._events: deque[Event] = deque(maxlen=KEPT)
        self._last = 0
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="events")
        # Behind a disk that hangs no more than this many wait; those after them are in memory only.
        self._unwritten = threading.BoundedSemaphore(KEPT)
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
        key: str | None = None,
    ) -> None:
        """Something happened. `key`: others may tell the same, and it is to be told once."""
        event = Event(
            id=self._last + 1, time=round(time.time(), 3), kind=kind, text=text[:1000],
            node=node, host=host, who=who, data=data or {},
        )  # fmt: skip
        if self._post is None:
            self._keep(event)
        else:
            self._post(event.model_dump_json().encode(), key)

    def tell_submission(self, submission: SeedSubmission) -> None:
        words = f"{submission.taken} seeds taken, {submission.refused} refused"
        self.tell(EventKind.SEEDS, words, who=submission.who, data={"submission": submission.id})

    @property
    def newest(self) -> int:
        return self._last

    def events(self) -> list[Event]:
        """Those in memory, oldest first."""
        return list(self._events)

    def take(self, number: int, body: bytes) -> Event | None:
        """An event that was numbered elsewhere; None if it cannot be understood."""
        try:
            event = Event.model_validate_json(body).model_copy(update={"id": number})
        except ValidationError:
            return None
        self._keep(event)
        return event

    def set_aside(self) -> None:
        """Begins anew; what there was is in a file that ends in `.old`."""
        self._writer.submit(self._rename_old).result()
        self._events.clear()
        self._last = 0

    def _keep(self, event: Event) -> None:
        self._last = event.id
        self._events.append(event)
        if self._unwritten.acquire(blocking=False):
            self._writer.submit(self._write, event)
        self._send(event)

    def show(self, status: Status) -> None:
        """A new reading of the counters."""
        self._status = status
        self._send(status)

    def page(self, after: int | None, limit: int, kinds: Collection[EventKind] = ()) -> EventPage:
        """Those after an id, oldest first; without an id, the last ones. No kind: all kinds."""
        found = [event for event in self._events if not kinds or event.kind in kinds]
        if after is None:
            return EventPage(events=found[-limit:], next=None)
        events = [event for event in found if event.id > after]
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
        # News are not worth stopping for: a full disk is told by an alert.
        with contextlib.suppress(OSError):
            self._append(event)
        self._unwritten.release()

    def _rename_old(self) -> None:
        with contextlib.suppress(FileNotFoundError):
            self._file.replace(self._file.with_suffix(".jsonl.old"))

    def _append(self, event: Event) -> None:
        handle = os.open(self._file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(handle, event.model_dump_json().encode() + b"\n")
            full = os.fstat(handle).st_size > _FILE_BYTES
        finally:
            os.close(handle)
        if full:
            self._file.replace(self._file.with_suffix(".jsonl.1"))


class EventCopy:
    """The event log as the copy of numbered events; `learn` sees each as it comes."""

    def __init__(self, event_log: EventLog, learn: Callable[[Event], None]) -> None:
        self._event_log = event_log
        self._learn = learn

    @property
    def newest(self) -> int:
        return self._event_log.newest

    async def take(self, number: int, body: bytes) -> None:
        event = self._event_log.take(number, body)
        if event is not None:
            self._learn(event)

    def set_aside(self) -> None:
        self._event_log.set_aside()
