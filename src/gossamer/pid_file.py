"""The number of a process in a file, and whether that process lives."""

import os
from pathlib import Path


def is_alive(file: Path) -> bool:
    """Whether there is a process of the number in the file. False: there is none, or no such file."""
    try:
        os.kill(int(file.read_text()), 0)
    except PermissionError:
        return True
    except (OSError, ValueError, OverflowError):
        return False
    return True
