"""A process that another one started ends when that one is gone, however it went.

The starter keeps the other end of our standard input open for as long as it lives.
"""

import asyncio
import os


def told_to_end(ended: asyncio.Event) -> None:
    """Sets the event at the end of standard input. To be called in the event loop."""
    loop = asyncio.get_running_loop()
    os.set_blocking(0, False)

    def look() -> None:
        try:
            data = os.read(0, 4096)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            loop.remove_reader(0)
            ended.set()

    loop.add_reader(0, look)
