"""Copies of a node's WARC and log files, beside the snapshots that know of their pages.

A page that a snapshot knows is not fetched again. So before a snapshot counts, the files with its
pages are copied to where the snapshots are: then a lost disk costs no page.
"""

import asyncio
from pathlib import Path

from gossamer.cluster.native import NativeNode
from gossamer.cluster.snapshots import Archive

KINDS = {"warc": "*.warc.gz", "log": "*.jsonl"}


class Copies:
    """The copies of one node's files."""

    def __init__(
        self,
        node: NativeNode,
        directory: Path,
        name: str,
        archive: Archive | None,
        *,
        keep: int,
    ) -> None:
        self._node = node
        self._directory = directory
        self._name = name
        self._archive = archive
        self._known: dict[str, int] | None = None
        self.keep = keep
        """Snapshots of a partition that are kept."""

    async def bring_up_to_date(self) -> None:
        """Closes the files being written and copies all that is new."""
        if self._archive is None:
            return
        rotate = getattr(self._node, "rotate", None)
        if rotate is not None:
            await asyncio.to_thread(rotate)
        if self._known is None:
            self._known = await self._archive.names(self._name)
        for kind, pattern in KINDS.items():
            for file in await asyncio.to_thread(_files, self._directory / kind, pattern):
                size = file.stat().st_size
                place = f"{self._name}/{kind}/{file.name}"
                if size and self._known.get(place) != size:
                    await self._archive.put(self._name, kind, file)
                    self._known[place] = size


def _files(directory: Path, pattern: str) -> list[Path]:
    return sorted(directory.glob(pattern))
