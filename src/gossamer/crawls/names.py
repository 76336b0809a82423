"""Names of crawls in a folder: which a new one may have, and which are those of the folder's own crawls."""

import os
from pathlib import Path
from typing import Final

from gossamer.control.service import NotKnownError, RefusedError, WrongValueError
from gossamer.crawls.listing import touched

LONGEST: Final = 100
"""Bytes of a new name, in UTF-8."""
_LONGEST_OF_ALL: Final = 255
"""Bytes that a name of a folder can have."""


def new_crawl(folder: Path, name: str) -> Path:
    """The directory that a new crawl of this name will have; there is nothing yet."""
    if not name or name != name.strip():
        raise _wrong("a name without blanks around it is needed")
    if name.startswith("."):
        raise _wrong("a name does not begin with a dot")
    if not name.isprintable() or "/" in name or "\\" in name:
        raise _wrong("a name is that of one folder: no slashes and no control characters")
    if len(name.encode()) > LONGEST:
        raise _wrong(f"a name has {LONGEST} bytes at most")
    directory = folder / name
    # Also a link that leads nowhere.
    if os.path.lexists(directory):
        raise _exists(name)
    return directory


def make_new(directory: Path) -> None:
    """Ours from the beginning: somebody else may have made one meanwhile."""
    try:
        directory.mkdir()
    except FileExistsError as error:
        raise _exists(directory.name) from error


def own_crawl(folder: Path, name: str) -> Path:
    """The directory of a crawl that is in the folder itself, and no link to another place."""
    directory = folder / name
    # Only then it is the folder's own, whatever is in the name.
    own = directory.parent == folder and directory.name == name
    if not own or name.startswith(".") or "\0" in name or len(name.encode()) > _LONGEST_OF_ALL:
        raise _unknown()
    if directory.is_symlink():
        raise RefusedError("link", f"{name} is a link to another place: use the command line there")
    if not directory.is_dir() or touched(directory) is None:
        raise _unknown()
    return directory


def _exists(name: str) -> RefusedError:
    return RefusedError("exists", f"there is a {name} already: choose another name")


def _wrong(detail: str) -> WrongValueError:
    return WrongValueError("wrong_name", f"name: {detail}")


def _unknown() -> NotKnownError:
    return NotKnownError("no_such_crawl", "there is no crawl of this name in the folder")
