"""Live updates as server-sent events: `status` once a second, `event` as it happens.

Read with `fetch` and a token in the header; `EventSource` cannot send one. Each `event` has an id;
after a break the client sends the last one as `Last-Event-ID` and misses none.
"""

from collections.abc import AsyncIterator
from typing import Annotated, Final

from fastapi import APIRouter, Header
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from gossamer.control.api.dependencies import TEXT_REFUSALS, AccessDep, ServiceDep
from gossamer.control.schemas import Event, Role, Status
from gossamer.control.service import RefusedError, Service

router = APIRouter(prefix="/api/v1", responses=TEXT_REFUSALS)

STREAMS: Final = 200
"""Streams open at a time; each costs a connection and a line a second."""
KEPT: Final = 50
"""Those of them that only who may operate can have: who may only look cannot shut them out."""


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
    access: AccessDep,
    last_event_id: Annotated[
        str | None,
        Header(pattern=r"^[0-9]{1,15}$", description="of the last event seen; absent: from now on"),
    ] = None,
) -> StreamingResponse:
    most = STREAMS if access.role is Role.OPERATE else STREAMS - KEPT
    if _streams.open >= most:
        raise RefusedError("too_many_streams", f"{most} streams are open; close one")
    after = int(last_event_id) if last_event_id is not None else None
    return _Counted(_lines(service, after), media_type="text/event-stream")


class _Counted(StreamingResponse):
    """Counted from the moment that it is allowed: many that ask at once do not slip through."""

    def __init__(self, lines: AsyncIterator[str], media_type: str) -> None:
        super().__init__(lines, media_type=media_type)
        _streams.open += 1

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            _streams.open -= 1


async def _lines(service: Service, after: int | None) -> AsyncIterator[str]:
    # How long a browser waits before it comes again.
    yield "retry: 1000\n\n"
    async for update in service.watch(after):
        yield _streams.status(update) if isinstance(update, Status) else _event(update)


def _event(event: Event) -> str:
    # JSON has no line ends of its own, so one data line holds it.
    return f"id: {event.id}\nevent: event\ndata: {event.model_dump_json()}\n\n"
