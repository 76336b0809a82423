"""Temporary directories that are removed however their process ends.

Each is locked (flock) as long as it is in use, so that the next process finds those that a kill left behind.
"""

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from gossamer.node.orderly_end import orderly_end, unbroken


@contextlib.contextmanager
def temporary_directory(prefix: str) -> Iterator[Path]:
    """A new one; those of this prefix that nobody uses any more are removed before."""
    with orderly_end():
        _remove_abandoned(prefix)
        with unbroken():
            made, handle = _made(prefix)
        try:
            yield Path(made.name)
        finally:
            with unbroken():
                # Removed while it is locked.
                made.cleanup()
                os.close(handle)


def _made(prefix: str) -> tuple[tempfile.TemporaryDirectory[str], int]:
    """With the handle that keeps it locked."""
    while True:
        made = tempfile.TemporaryDirectory(prefix=prefix)
        place = Path(made.name)
        # Before it is locked it may look abandoned to somebody else, who removes it.
        with contextlib.suppress(FileNotFoundError):
            handle = _opened(place)
            fcntl.flock(handle, fcntl.LOCK_EX)
            if place.exists():
                return made, handle
            os.close(handle)


def _opened(place: Path) -> int:
    # A link could lead to a directory of somebody else.
    return os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)


def _remove_abandoned(prefix: str) -> None:
    for place in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
        # What cannot be opened, is another user's or is in use is not ours to remove.
        with contextlib.suppress(OSError), contextlib.ExitStack() as held:
            handle = _opened(place)
            held.callback(os.close, handle)
            if os.fstat(handle).st_uid == os.getuid():
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(place)
