"""How long this process could hear others: time in which it was held up is nobody's silence.

A machine that is busy or sleeps holds a control node up for seconds. What nodes said meanwhile is read after
that, and until then all of them would seem to have said nothing.
"""

import asyncio
from typing import Final

from gossamer.clock import Clock

EVERY: Final = 0.25
MOST: Final = 2 * EVERY
"""Of the time between two looks at the clock, what counts at most."""


class Hearing:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last = clock.monotonic()
        self.time = 0.0
        """Seconds in which we could hear."""

    async def follow(self) -> None:
        while True:
            now = self._clock.monotonic()
            self.time += min(now - self._last, MOST)
            self._last = now
            await asyncio.sleep(EVERY)
