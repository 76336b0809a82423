"""Of which kind the crawl in a directory is, by its files, and what goes on with it."""

from pathlib import Path

from gossamer.control.leader.backup import Backup
from gossamer.words import command


def is_cluster(directory: Path) -> bool:
    return (directory / "nodes").is_dir() and not (directory / "state").exists()


def node_directories(directory: Path) -> list[Path]:
    """Of the nodes of a cluster that own something."""
    named = owners(directory)
    return [
        node
        for node in sorted((directory / "nodes").iterdir())
        if (node / "state").exists() and (not named or node.name in named)
    ]


def owners(directory: Path) -> set[str]:
    """The nodes of a cluster that own something, as far as its control node wrote it down."""
    backup = Backup(directory / "control").load()
    # An unassigned partition has no owner.
    return set() if backup is None else {row.owner for row in backup.assignment().rows} - {""}


def node_count(directory: Path) -> int:
    """How many nodes a cluster goes on with: all of its own, each of which has a part of it."""
    return max(1, len(node_directories(directory)))


def resume_command(directory: Path) -> str:
    """What goes on with a crawl."""
    if is_cluster(directory):
        nodes = str(node_count(directory))
        return command("cluster", "--nodes", nodes, "--resume", "--out", directory)
    return command("crawl", "--resume", "--out", directory)
