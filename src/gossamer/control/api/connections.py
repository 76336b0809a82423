"""Connections of the control API: who holds one without asking anything loses it, not the others.

Takes what connects; guarantees: a full head of a request comes within `HEAD` seconds or the
connection is closed; one address holds at most `SILENT` that have asked nothing, all together at
most `MOST`. Nobody is refused for that: what is worth least is closed, the oldest of it first, so
that somebody without a token cannot lock out those who have one.
"""

import asyncio
from typing import Any, Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from gossamer.control.api.safety import SAFETY
from gossamer.control.schemas import Access, Role

HEAD: Final = 10.0
"""Seconds for the head of a request, from the connection's begin or from the last answer's rest."""
SILENT: Final = 100
MOST: Final = 500


class Connection(H11Protocol):
    """One connection. Always this parser, whatever else is installed."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.since = 0.0
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.since = self.loop.time()
        self._await_head(HEAD)
        others = [one for one in self.connections if isinstance(one, Connection)]
        silent = [one for one in others if one.cycle is None and one.peer == self.peer]
        for crowd, most in ((silent, SILENT), (others, MOST)):
            if len(crowd) > most:
                # At once: a peer that does not read could delay an orderly end for ever.
                min(crowd, key=_worth).drop()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def handle_events(self) -> None:
        before = self.cycle
        super().handle_events()
        if self.cycle is not before:
            self._stop_waiting()

    def on_response_complete(self) -> None:
        # Before the rest: a request that was sent ahead may begin in it.
        self._await_head(self.timeout_keep_alive + HEAD)
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        if self.conn.our_state not in {h11.IDLE, h11.SEND_RESPONSE}:
            self.transport.close()
            return
        headers = [("content-type", "text/plain; charset=utf-8"), ("connection", "close")]
        answer = h11.Response(status_code=400, headers=[*headers, *SAFETY.items()])
        for event in (answer, h11.Data(data=msg.encode("ascii")), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    @property
    def peer(self) -> str:
        return self.client[0] if self.client else ""

    def drop(self) -> None:
        # Not counted any more, though the loop tells its loss only later.
        self.connections.discard(self)
        self.transport.abort()

    def _await_head(self, seconds: float) -> None:
        self._stop_waiting()
        self._deadline = self.loop.call_later(seconds, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


def _worth(connection: Connection) -> tuple[int, float]:
    """The lower, the sooner it is closed: nothing asked, no good token, at rest, to read, to operate."""
    if not connection.cycle:
        return 0, connection.since
    cycle = connection.cycle
    # Put there by the guard.
    access: Access | None = cycle.scope["state"].get("access")
    if access is None:
        return 1, connection.since
    if cycle.response_complete:
        return 2, connection.since
    return (4 if access.role is Role.OPERATE else 3), connection.since
