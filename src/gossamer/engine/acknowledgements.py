"""Waiting for acknowledgements of messages that were handed over."""

import asyncio
from collections.abc import Sequence

from gossamer.engine.ports import ACK_TIMEOUT
from gossamer.errors import EngineAwayError, EngineError


async def acknowledged(futures: Sequence["asyncio.Future[int]"]) -> list[EngineError | None]:
    """For each message None, or why it must be sent again; after `ACK_TIMEOUT` at the latest."""
    if not futures:
        return []
    _done, late = await asyncio.wait(futures, timeout=ACK_TIMEOUT)
    for future in late:
        future.cancel()
    return [_verdict(future) for future in futures]


def _verdict(future: "asyncio.Future[int]") -> EngineError | None:
    if future.cancelled():
        return EngineAwayError("send links: no answer in time")
    error = future.exception()
    if error is None or isinstance(error, EngineError):
        return error
    return EngineError(f"send links: {error}")
