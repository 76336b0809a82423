"""What killed nodes left behind: files still open, and files of disks that are gone.

After all processes of a cluster on one machine have ended. Guarantees: every page that the crawl
counts as fetched is in a finished WARC file under DIR/nodes, whatever happened to the node.
"""

import contextlib
from pathlib import Path

import msgspec

from gossamer import _native
from gossamer.cluster.archive import KINDS, OPEN, bring_back, whole_records
from gossamer.cluster.snapshots import Archive
from gossamer.node.native_settings import to_native
from gossamer.settings import CrawlSettings


class _Name(msgspec.Struct):
    incarnation: str


def incarnation(directory: Path) -> str:
    """The name under which a node of a cluster wrote its files last; OSError or MsgspecError: it cannot be told."""
    return msgspec.json.decode((directory / "identity.json").read_bytes(), type=_Name).incarnation


def finish_files(out: Path, settings: CrawlSettings) -> None:
    """Finishes WARC files of nodes that were killed: to the last commit, if their state is there."""
    for directory in sorted((out / "nodes").iterdir()) if (out / "nodes").exists() else []:
        if not list((directory / "warc").glob(f"*{OPEN}")):
            continue
        try:
            _close_files(directory, settings)
        except _native.StateInUseError:
            # Whoever has it open writes to them.
            continue
        for file in (directory / "warc").glob(f"*{OPEN}"):
            size = whole_records(file)
            with file.open("r+b") as warc:
                warc.truncate(size)
            if size:
                file.replace(file.with_name(file.name.removesuffix(OPEN)))
            else:
                file.unlink()


def _close_files(directory: Path, settings: CrawlSettings) -> None:
    with contextlib.suppress(OSError, ValueError, msgspec.MsgspecError):
        name = incarnation(directory)
        if not (directory / "state").exists():
            return
        text = to_native(settings, node_name=name)
        try:
            _native.Node(str(directory), text).close()
        except _native.StateInUseError:
            raise
        except _native.StateError:
            # What the files themselves tell is left.
            return


async def bring_back_files(out: Path, settings: CrawlSettings) -> list[Path]:
    """Files that only the copies beside the snapshots still have."""
    cluster = settings.cluster
    if not cluster.archive or not cluster.snapshots:
        return []
    archive = Archive(cluster.snapshots, cluster.name)
    found = []
    for name in sorted(await archive.names()):
        node, kind, file_name = name.split("/")
        if kind not in KINDS or "/" in file_name:
            continue
        restored = await bring_back(archive, name, out / "nodes" / node)
        if restored is not None:
            found.append(restored)
    return found
