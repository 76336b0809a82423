"""Crawls that do not run, opened by their files: of one process, or of the nodes of a cluster on one machine."""

import contextlib
from pathlib import Path

import msgspec

from gossamer import _native
from gossamer.control.leader.backup import Backup
from gossamer.errors import GossamerError, StateInUseError, UsageError
from gossamer.node.leftovers import incarnation
from gossamer.node.native_settings import to_native
from gossamer.settings import CrawlSettings, load_saved


def is_cluster(directory: Path) -> bool:
    return (directory / "nodes").is_dir() and not (directory / "state").exists()


def node_directories(directory: Path) -> list[Path]:
    """Of the nodes of a cluster that own something."""
    backup = Backup(directory / "control").load()
    owners = None if backup is None else {row.owner for row in backup.assignment().rows}
    return [
        node
        for node in sorted((directory / "nodes").iterdir())
        if (node / "state").exists() and (owners is None or node.name in owners)
    ]


def resume_command(directory: Path) -> str:
    """What goes on with a crawl: a cluster with all of its nodes, each of which has a part of it."""
    if is_cluster(directory):
        nodes = len(node_directories(directory))
        return f"gossamer cluster --nodes {nodes} --resume --out {directory}"
    return f"gossamer crawl --resume --out {directory}"


def open_nodes(directory: Path) -> list[_native.Node]:
    """The nodes of the crawl in a directory, to be closed by the caller."""
    if not is_cluster(directory):
        if not (directory / "state").exists():
            raise UsageError(f"{directory} holds no crawl (no {directory / 'state'})")
        return [_open(directory, directory, load_saved(directory / "crawl.toml"), None)]
    settings = load_saved(directory / "crawl.toml")
    with contextlib.ExitStack() as opened:
        nodes = []
        for place in node_directories(directory):
            nodes.append(_open(directory, place, settings, _name(place)))
            opened.callback(nodes[-1].close)
        # All are open: they stay so.
        opened.pop_all()
    if not nodes:
        raise UsageError(f"{directory} holds no crawl (no state in {directory / 'nodes'})")
    return nodes


def _name(place: Path) -> str:
    try:
        return incarnation(place)
    except (OSError, msgspec.MsgspecError) as error:
        raise GossamerError(f"cannot use {place}: {error}") from error


def _open(crawl: Path, place: Path, settings: CrawlSettings, name: str | None) -> _native.Node:
    try:
        return _native.Node(str(place), to_native(settings, node_name=name))
    except _native.StateInUseError as error:
        raise StateInUseError(
            f"the crawl in {crawl} is running, and its state belongs to it until it ends; "
            "stop it with Ctrl-C and ask again (--resume goes on)"
        ) from error
    except (_native.StateError, OSError) as error:
        raise GossamerError(str(error)) from error
    except ValueError as error:
        raise UsageError(str(error)) from error
