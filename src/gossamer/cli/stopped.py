"""Crawls that do not run, opened by their files: of one process, or of the nodes of a cluster on one machine.

Who only looks takes `view_nodes`, which changes nothing; who changes something, `open_nodes`.
"""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from gossamer import _native
from gossamer.crawls.kinds import is_cluster, node_directories, resume_command
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
from gossamer.node.view import ViewedNode, viewed_node
from gossamer.settings import load_saved

STANDALONE: Final = "standalone"
"""The name of the only node of a crawl of one process."""


def check_kind(directory: Path, *, cluster: bool) -> None:
    """Refuses to go on with a crawl of the other kind, and names the command that does."""
    other = (directory / "state").exists() if cluster else is_cluster(directory)
    if other:
        kind = "of one process" if cluster else "of a cluster"
        raise UsageError(
            f"{directory} holds a crawl {kind}", do=f"go on with: {resume_command(directory)}"
        )


class _Place(NamedTuple):
    name: str
    directory: Path
    node_name: str | None
    """Under which it wrote its files; None: it is the only node."""


def _places(directory: Path) -> list[_Place]:
    """The nodes of a crawl. UsageError: there is none with a state."""
    if not is_cluster(directory):
        if not (directory / "state").exists():
            raise _nothing(directory, directory / "state")
        return [_Place(STANDALONE, directory, None)]
    found = [_Place(place.name, place, node_name(place)) for place in node_directories(directory)]
    if not found:
        raise _nothing(directory, directory / "nodes" / "*" / "state")
    return found


def open_nodes(directory: Path) -> list[_native.Node]:
    """The nodes of the crawl in a directory, to change something, and to be closed by the caller."""
    places, settings = _places(directory), load_saved(directory / "crawl.toml")
    nodes: list[_native.Node] = []
    with contextlib.ExitStack() as opened:
        for place in places:
            with _explained(directory):
                text = to_native(settings, node_name=place.node_name)
                nodes.append(_native.Node(place.directory, text))
            opened.callback(nodes[-1].close)
        # All are open: they stay so.
        opened.pop_all()
    return nodes


@contextlib.contextmanager
def view_nodes(directory: Path, *, host_list: bool = False) -> Iterator[dict[str, ViewedNode]]:
    """The same by their names, to be looked at; nothing is changed. `host_list`: with a list of all their hosts."""
    places, settings = _places(directory), load_saved(directory / "crawl.toml")
    with contextlib.ExitStack() as opened:
        nodes: dict[str, ViewedNode] = {}
        for place in places:
            text = to_native(settings, node_name=place.node_name, host_list=host_list, look=True)
            with _explained(directory):
                nodes[place.name] = opened.enter_context(viewed_node(place.directory, text))
        yield nodes


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


@contextlib.contextmanager
def _explained(crawl: Path) -> Iterator[None]:
    """Why a node cannot be opened."""
    try:
        yield
    except _native.StateInUseError as error:
        raise StateInUseError(
            f"the crawl in {crawl} is running, or open in `gossamer open`, and its state belongs to that process "
            "until it ends",
            do="end it with Ctrl-C and ask again (--resume goes on with a crawl)",
        ) from error
    except (_native.StateError, _native.VersionError, OSError) as error:
        raise BrokenStateError(f"{crawl}: {error}") from error
    except ValueError as error:
        raise SettingsError(f"{crawl / 'crawl.toml'}: {error}") from error
