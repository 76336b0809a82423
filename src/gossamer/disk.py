"""The disk that a crawl is on: how much room there is, and files that are written whole or not at all."""

import os
from pathlib import Path


def free_bytes(directory: Path) -> int | None:
    """Bytes that may still be written there; `None`: the system does not tell."""
    try:
        room = os.statvfs(directory)
    except OSError:
        return None
    return room.f_bavail * room.f_frsize


def write_whole(file: Path, content: bytes) -> None:
    """The whole file or the one before it, also after a power cut."""
    temporary = file.with_name(f"{file.name}.new")
    with temporary.open("wb") as out:
        out.write(content)
        out.flush()
        os.fsync(out.fileno())
    temporary.replace(file)
    # The new name is durable only with its directory.
    handle = os.open(file.parent, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
