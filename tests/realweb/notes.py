"""Real short texts, for messages and commits: the release notes of git, some hundred with a dozen changes each."""

import functools
import re
from dataclasses import dataclass

from tests.realweb.install import UNPACKED

NOTES_PACKAGES = ("git",)
"""To be among the `read_packages` of an application that takes notes."""
ROOT = UNPACKED / "usr/share/doc/git/RelNotes"
PEOPLE = (
    "Ada Byron", "Boris Orlov", "Chandra Rao", "Dolores Vega", "Emeka Obi", "Frida Lind", "Goro Abe",
    "Hana Novak", "Ivo Kral", "Jun Park", "Kofi Mensah", "Lena Roth",
)  # fmt: skip


@dataclass(frozen=True)
class Note:
    """The announcement of a version and its changes, each a paragraph or more."""

    version: str
    title: str
    changes: tuple[str, ...]


@functools.cache
def notes() -> tuple[Note, ...]:
    """Oldest version first; only those with several changes."""
    versions = {
        tuple(int(part) for part in path.stem.split(".")): path
        for path in ROOT.glob("*.txt")
        if re.fullmatch("[0-9.]+", path.stem)
    }
    found = []
    for version in sorted(versions):
        text = versions[version].read_text(errors="replace")
        changes = [_dedented(part) for part in re.split(r"^ [*-] ", text, flags=re.MULTILINE)[1:]]
        title = text.partition("\n")[0].strip()
        if len(changes) > 3 and title:
            found.append(Note(versions[version].stem, title, tuple(changes)))
    return tuple(found)


def subject(change: str) -> str:
    """The first sentence, as the title of a message or a commit."""
    words = " ".join(change.split()).partition(". ")[0]
    return words if len(words) <= 72 else words[:72].rpartition(" ")[0]


def _dedented(change: str) -> str:
    """Without the indentation of its list, and without the heading of what follows it."""
    lines = [line.strip() for line in change.split("\n")]
    blank = next((at for at, line in enumerate(lines) if not line), len(lines))
    return "\n".join(lines[:blank])
