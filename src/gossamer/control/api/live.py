"""Live updates as server-sent events: `status` once a second, `event` as it happens.

Read with `fetch` and a token in the header; `EventSource` cannot send one. Each `event` has an id;
after a break the client sends the last one as `Last-Event-ID` and misses none.
"""

from collections.abc import AsyncIterator
from typing import Annotated, Final

from fastapi import APIRouter, Header
from fastapi.responses import StreamingResponse

from gossamer.control.api.asked import TEXT_REFUSALS, ServiceDep
from gossamer.control.service import RefusedError, Service
from gossamer.control.shapes import Event, Status

router = APIRouter(prefix="/api/v1", responses=TEXT_REFUSALS)

STREAMS: Final = 200
"""Streams open at a time; each costs a connection and a line a second."""


class Streams:
    """Counts what is open, and writes each status once for all."""

    def __init__(self) -> None:
        self.open = 0
        self._last: tuple[Status, str] | None = None

    def status(self, status: Status) -> str:
        if self._last is None or self._last[0] is not status:
            self._last = (status, f"event: status\ndata: {status.model_dump_json()}\n\n")
        return self._last[1]


_streams = Streams()


@router.get(
    "/stream",
    tags=["events"],
    summary="Status every second and events as they happen",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}},
)
async def stream(
    service: ServiceDep,
    last_event_id: Annotated[
        str | None,
        Header(pattern=r"^[0-9]{1,15}$", description="of the last event seen; absent: from now on"),
    ] = None,
) -> StreamingResponse:
    if _streams.open >= STREAMS:
        raise RefusedError("too_many_streams", f"{STREAMS} streams are open; close one")
    after = int(last_event_id) if last_event_id is not None else None
    return StreamingResponse(_lines(service, after), media_type="text/event-stream")


async def _lines(service: Service, after: int | None) -> AsyncIterator[str]:
    _streams.open += 1
    try:
        # How long a browser waits before it comes again.
        yield "retry: 1000\n\n"
        async for update in service.watch(after):
            yield _streams.status(update) if isinstance(update, Status) else _event(update)
    finally:
        _streams.open -= 1


def _event(event: Event) -> str:
    # JSON has no line ends of its own, so one data line holds it.
    return f"id: {event.id}\nevent: event\ndata: {event.model_dump_json()}\n\n"
