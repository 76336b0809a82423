"""Locks on files (`flock`): whether somebody has one for himself."""

import fcntl
import os
from pathlib import Path


def is_locked(file: Path) -> bool:
    """Whether a process has the file for itself; one that only shares it does not count. Also where it may only be read."""
    try:
        handle = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(handle)
    return False
