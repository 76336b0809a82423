"""Crawls that do not run, opened by their files: of one process, or of the nodes of a cluster on one machine."""

import contextlib
from pathlib import Path
from typing import Final

import msgspec

from gossamer import _native
from gossamer.control.leader.backup import Backup
from gossamer.errors import (
    BrokenStateError,
    NoCrawlError,
    SettingsError,
    StateInUseError,
    UsageError,
)
from gossamer.library import log_files
from gossamer.node.leftovers import incarnation
from gossamer.node.native_settings import to_native
from gossamer.settings import CrawlSettings, load_saved
from gossamer.words import command

STANDALONE: Final = "standalone"
"""The name of the only node of a crawl of one process."""


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
        nodes = max(1, len(node_directories(directory)))
        return command("cluster", "--nodes", str(nodes), "--resume", "--out", directory)
    return command("crawl", "--resume", "--out", directory)


def check_kind(directory: Path, *, cluster: bool) -> None:
    """Refuses to go on with a crawl of the other kind, and names the command that does."""
    other = (directory / "state").exists() if cluster else is_cluster(directory)
    if other:
        kind = "of one process" if cluster else "of a cluster"
        raise UsageError(
            f"{directory} holds a crawl {kind}", do=f"go on with: {resume_command(directory)}"
        )


def open_nodes(directory: Path) -> list[_native.Node]:
    """The nodes of the crawl in a directory, to be closed by the caller."""
    return list(open_named(directory).values())


def open_named(directory: Path, *, host_list: bool = False) -> dict[str, _native.Node]:
    """The same by their names; `host_list`: with a list of all their hosts to look at."""
    if not is_cluster(directory):
        if not (directory / "state").exists():
            raise _nothing(directory, directory / "state")
        settings = load_saved(directory / "crawl.toml")
        return {STANDALONE: _open(directory, directory, settings, None, host_list=host_list)}
    settings = load_saved(directory / "crawl.toml")
    nodes: dict[str, _native.Node] = {}
    with contextlib.ExitStack() as opened:
        for place in node_directories(directory):
            name = node_name(place)
            nodes[place.name] = _open(directory, place, settings, name, host_list=host_list)
            opened.callback(nodes[place.name].close)
        # All are open: they stay so.
        opened.pop_all()
    if not nodes:
        raise _nothing(directory, directory / "nodes" / "*" / "state")
    return nodes


def _nothing(directory: Path, place: Path) -> NoCrawlError:
    if log_files(directory):
        return NoCrawlError(
            f"{directory} is a crawl without its state (no {place}), which this needs",
            do="gossamer report, open, audit and export do without it",
        )
    return NoCrawlError.at(directory, f"no {place}")


def node_name(place: Path) -> str:
    """The name under which a node of a cluster wrote its files last."""
    try:
        return incarnation(place)
    except (OSError, msgspec.MsgspecError) as error:
        raise BrokenStateError(f"cannot use {place}: {error}") from error


def _open(
    crawl: Path, place: Path, settings: CrawlSettings, name: str | None, *, host_list: bool
) -> _native.Node:
    try:
        return _native.Node(str(place), to_native(settings, node_name=name, host_list=host_list))
    except _native.StateInUseError as error:
        raise StateInUseError(
            f"the crawl in {crawl} is running, or open in `gossamer open`, and its state belongs to that process "
            "until it ends",
            do="end it with Ctrl-C and ask again (--resume goes on with a crawl)",
        ) from error
    except (_native.StateError, _native.VersionError, OSError) as error:
        raise BrokenStateError(f"{place}: {error}") from error
    except ValueError as error:
        raise SettingsError(f"{crawl / 'crawl.toml'}: {error}") from error
