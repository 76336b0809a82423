"""Ending tasks for certain.

A cancellation can be lost: `asyncio.wait_for`, which the engine's client uses in every request, gives
the result instead if that came at the same moment. So cancelling once is not enough.
"""

import asyncio
from collections.abc import Iterable
from typing import Any

AGAIN = 0.5


async def end(tasks: Iterable["asyncio.Future[Any]"]) -> None:
    """Cancels until all have ended. What they ended with is not looked at."""
    while pending := [task for task in tasks if not task.done()]:
        for task in pending:
            task.cancel()
        await asyncio.wait(pending, timeout=AGAIN)
