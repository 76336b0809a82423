"""Copies of a node's WARC and log files, beside the snapshots that know of their pages.

A page that a snapshot knows is not fetched again. So before a snapshot counts, the files with its
pages are copied to where the snapshots are: then a lost disk costs no page.
"""

import asyncio
import contextlib
import os
import zlib
from pathlib import Path

from gossamer.cluster.snapshots import Archive
from gossamer.errors import SnapshotError

OPEN = ".open"
KINDS = {"warc": ("*.warc.gz", "*.warc.gz.open"), "log": ("*.jsonl", "*.jsonl.open")}


class Copies:
    """The copies of one node's files."""

    def __init__(
        self,
        directory: Path,
        name: str,
        archive: Archive | None,
        *,
        keep: int,
    ) -> None:
        self._directory = directory
        self._name = name
        self._archive = archive
        self._known: dict[str, int] | None = None
        self.keep = keep
        """Snapshots of a partition that are kept."""

    async def bring_up_to_date(self) -> None:
        """Copies all that is new. What is still being written is copied as far as it is.

        A copy of an open file may end in the middle of a record of which no snapshot knows; who
        brings it back cuts that off (`whole_records`).
        """
        if self._archive is None:
            return
        if self._known is None:
            self._known = await self._archive.names(self._name)
        for kind, patterns in KINDS.items():
            for file, size in await asyncio.to_thread(_files, self._directory / kind, patterns):
                name = file.name.removesuffix(OPEN)
                place = f"{self._name}/{kind}/{name}"
                if size and self._known.get(place) != size:
                    try:
                        await self._archive.put(self._name, kind, name, file)
                    except SnapshotError:
                        # Finished, and so renamed, while we looked.
                        done = file.with_name(name)
                        if done == file:
                            raise
                        await self._archive.put(self._name, kind, name, done)
                    self._known[place] = size


def _files(directory: Path, patterns: tuple[str, ...]) -> list[tuple[Path, int]]:
    found = []
    for pattern in patterns:
        for file in sorted(directory.glob(pattern)):
            with contextlib.suppress(FileNotFoundError):
                found.append((file, file.stat().st_size))
    return found


def whole_records(file: Path) -> int:
    """Bytes of a gzip file up to the end of its last whole member."""
    whole = read = 0
    member = zlib.decompressobj(zlib.MAX_WBITS | 16)
    with file.open("rb") as stream:
        while block := stream.read(1 << 20):
            read += len(block)
            while block:
                try:
                    member.decompress(block)
                except zlib.error:
                    return whole
                if not member.eof:
                    break
                block = member.unused_data
                whole = read - len(block)
                member = zlib.decompressobj(zlib.MAX_WBITS | 16)
    return whole


async def bring_back(archive: Archive, name: str, directory: Path) -> Path | None:
    """One file of a lost disk (`NODE/KIND/FILE`), cut to whole records."""
    _node, kind, file_name = name.split("/")
    target = directory / kind / file_name
    if not await asyncio.to_thread(_is_missing, target):
        return None
    temporary = target.with_name(f"{file_name}.part")
    await archive.fetch(name, temporary)
    await asyncio.to_thread(_take, temporary, target)
    return target


def _is_missing(target: Path) -> bool:
    """Then there is a folder for it."""
    if target.exists() or target.with_name(f"{target.name}{OPEN}").exists():
        return False
    target.parent.mkdir(parents=True, exist_ok=True)
    return True


def _take(temporary: Path, target: Path) -> None:
    _cut(temporary)
    temporary.replace(target)


def _cut(file: Path) -> None:
    is_warc = ".warc.gz" in file.name
    os.truncate(file, whole_records(file) if is_warc else file.read_bytes().rfind(b"\n") + 1)
