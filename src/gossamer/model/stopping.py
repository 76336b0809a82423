"""What the end of a crawl waits for, in words."""

import math

import msgspec

from gossamer.model.progress import Progress


def stopping(progress: Progress, left: float, *, interrupts: int, where: str = "") -> Progress:
    """The same reading with a note that says so. `left`: seconds that visits under way may still take."""
    number = progress.in_flight
    visits = f"{number} visit{'' if number == 1 else 's'} under way{where}"
    if not number or left <= 0:
        note = "stopping: saving what was fetched"
    elif interrupts > 1:
        note = f"stopping: giving up {visits}; made again when the crawl goes on"
    else:
        note = f"stopping: waiting for {visits}, at most {math.ceil(left)} s"
        note += "; Ctrl-C again leaves them" if interrupts else ""
    return msgspec.structs.replace(progress, note=note)
