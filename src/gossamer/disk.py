"""Room on the disk that a crawl is on."""

import os
from pathlib import Path


def free_bytes(directory: Path) -> int | None:
    """Bytes that may still be written there; `None`: the system does not tell."""
    try:
        room = os.statvfs(directory)
    except OSError:
        return None
    return room.f_bavail * room.f_frsize
