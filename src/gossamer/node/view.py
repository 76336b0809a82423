"""Nodes that do not run, opened to be looked at: nothing in their directories is changed, and these may be read-only.

A node is opened on a view in a temporary directory (`rust/core/src/node/view.rs`): tables are linked, journals
copied, WARC files and logs replaced by empty files of the same length. As long as a view lasts, nobody can go on
with the crawl; others may look at it too. The view goes with its process; that of a killed one, with the next look.
"""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gossamer import _native
from gossamer.node.temporary import temporary_directory


@dataclass(frozen=True)
class ViewedNode:
    node: _native.Node
    committed: dict[Path, int]
    """Of each log or WARC file that goes on after what was committed, as after a kill: the bytes before."""


@contextlib.contextmanager
def view_of(directory: Path) -> Iterator[Path]:
    """Where a view of a node's directory is; errors are those of `_native.Node`."""
    with temporary_directory("gossamer-view-") as place:
        view = _native.View(directory, place)
        try:
            yield place
        finally:
            view.close()


@contextlib.contextmanager
def viewed_node(directory: Path, settings: str) -> Iterator[ViewedNode]:
    """`settings`: as made by `to_native`, with `look`."""
    with view_of(directory) as place:
        node = _native.Node(place, settings)
        try:
            yield ViewedNode(node, _committed(directory, place))
        finally:
            node.close()


def _committed(directory: Path, place: Path) -> dict[Path, int]:
    """Opening has cut the files of the view in place of the real ones, or removed them."""
    found: dict[Path, int] = {}
    for folder in ("log", "warc"):
        kept = {
            file.name.removesuffix(".open"): file.stat().st_size
            for file in (place / folder).iterdir()
        }
        for file in (directory / folder).glob("*"):
            length = kept.get(file.name.removesuffix(".open"), 0)
            if length < file.stat().st_size:
                found[file] = length
    return found
