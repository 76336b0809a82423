"""One server at a time has its address in a control directory."""

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from gossamer.errors import StateInUseError


@contextlib.contextmanager
def alone(control: Path, what: str) -> Iterator[None]:
    """Holds a lock on the directory: an address alone proves nothing, it may be copied. `what`: what is served."""
    handle = os.open(control, os.O_RDONLY | os.O_DIRECTORY)
    try:
        _lock(handle, control, what)
        yield
    finally:
        os.close(handle)


def _lock(handle: int, control: Path, what: str) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        with contextlib.suppress(OSError):
            where = (control / "url").read_text().strip()
            raise StateInUseError(f"{what} is open already", do=f"see {where}") from error
        raise StateInUseError(f"{what} is being opened already") from error
