"""What was found about URLs, of a crawl that runs or of one that does not.

A crawl that runs is asked through its control node; one that does not, in its own files.
"""

import contextlib
from pathlib import Path
from typing import Protocol

import msgspec

from gossamer import _native
from gossamer.cli.stopped import open_nodes, view_nodes
from gossamer.control.client import Client, control_directory, find, is_served, path_of
from gossamer.crawls.kinds import is_cluster
from gossamer.errors import GossamerError, StateInUseError, UsageError
from gossamer.model.findings import Findings, findings
from gossamer.words import plain

MOST = 1000
"""Patterns, and parameters, listed at most."""
_NOTHING_TO_DO = "without --take-up the same command lists what can be taken up"
NAMED = 5
"""Hosts that are named to somebody who asks for one that is not known."""


class Asked(Protocol):
    """A crawl, running or not."""

    def found(self, host: str | None) -> Findings: ...

    def knows(self, host: str) -> bool:
        """Whether anything of the host was ever queued."""

    def take_up(self, host: str, pattern: str | None) -> int:
        """How many URLs are queued again."""

    def close(self) -> None: ...


class Stopped:
    """A crawl that is not running, by its files."""

    def __init__(self, directory: Path, *, change: bool) -> None:
        """Without `change` it is only looked at, and nothing in the directory is touched."""
        self._held = contextlib.ExitStack()
        if change:
            self._nodes: list[_native.Node] = open_nodes(directory)
            for node in self._nodes:
                self._held.callback(node.close)
        else:
            viewed = self._held.enter_context(view_nodes(directory))
            self._nodes = [one.node for one in viewed.values()]

    def found(self, host: str | None) -> Findings:
        told = [findings(node, MOST, host) for node in self._nodes]
        patterns = [row for one in told for row in one.patterns]
        patterns.sort(key=lambda row: (-row.set_aside, row.host or "", row.pattern))
        parameters = [row for one in told for row in one.parameters]
        return Findings(patterns[:MOST], sum(one.total for one in told), parameters[:MOST])

    def knows(self, host: str) -> bool:
        return any(node.host(host) is not None for node in self._nodes)

    def take_up(self, host: str, pattern: str | None) -> int:
        return sum(node.take_up(host, pattern)[1] for node in self._nodes)

    def close(self) -> None:
        self._held.close()


class Running:
    """A crawl that runs, by its control node."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def found(self, host: str | None) -> Findings:
        return msgspec.convert(self._client.get("/patterns", host=host, limit=MOST), Findings)

    def knows(self, host: str) -> bool:
        try:
            self._client.get(path_of("hosts", host))
        except UsageError:
            return False
        return True

    def take_up(self, host: str, pattern: str | None) -> int:
        body = {"host": host} if pattern is None else {"host": host, "pattern": pattern}
        taken = self._client.post("/patterns/take_up", body)
        return int(taken["urls"])

    def close(self) -> None:
        """Nothing is held."""


def open_crawl(control: str | None, directory: Path | None, *, change: bool) -> Asked:
    """Of a running crawl its control node, of another its files. `change`: something is to be taken up."""
    where = directory or Path("crawl-out")
    named = (control_directory(where) / "url").exists()
    away = is_cluster(where) and not _answers(where)
    if control is not None or (named and not away and not (where / "state").exists()):
        return Running(find(control, directory))
    try:
        return Stopped(where, change=change)
    except StateInUseError as error:
        # One that was killed leaves its address behind, and may go on without a control node.
        if not is_served(where):
            raise _without_api(where) from error
    try:
        return Running(find(None, where))
    except UsageError as error:
        raise GossamerError(f"the crawl in {where} cannot be asked", do=str(error)) from error


def _answers(where: Path) -> bool:
    """Whether somebody serves it."""
    try:
        find(None, where).get("/access")
    except GossamerError:
        return False
    return True


def _without_api(where: Path) -> StateInUseError:
    if is_cluster(where):
        return StateInUseError(f"the cluster in {where} is starting or ending", do="ask again")
    return StateInUseError(
        f"the crawl in {where} runs without a control API, so nobody else can see its state",
        do="run it with --serve to see and steer it, or stop it with Ctrl-C and ask again",
    )


def check_host(crawl: Asked, host: str) -> None:
    """UsageError: nothing of the host is known; says which hosts there are findings of."""
    if crawl.knows(host):
        return
    found = crawl.found(None)
    named = {row.host for row in found.patterns} | {row.host for row in found.parameters}
    names = sorted(name for name in named if name)
    words = f"the crawl knows no host {plain(host)}"
    ported = [name for name in names if name.rpartition(":")[0] == host.lower()]
    if ported:
        raise UsageError(words, do=f"name the port too: {_listed(ported)}")
    if names:
        raise UsageError(
            words, do=f"name one of those of which something was found: {_listed(names)}"
        )
    raise UsageError(
        words, do="write it as in URLs, with its port; nothing was found of any host yet"
    )


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(map(plain, names[:NAMED])) + more


def check_take_up(crawl: Asked, host: str, pattern: str | None) -> None:
    """UsageError: there is nothing to be taken up."""
    check_host(crawl, host)
    found = crawl.found(host)
    name = plain(host)
    if pattern is None:
        if not found.patterns:
            raise UsageError(
                f"no URL pattern of {name} is doubted: nothing of it is set aside",
                do=_NOTHING_TO_DO,
            )
    elif pattern.startswith("?"):
        if pattern[1:] not in {row.parameter for row in found.parameters}:
            raise UsageError(
                f"nothing was found about the parameter {plain(pattern[1:])} of {name}: its URLs keep it",
                do=_NOTHING_TO_DO,
            )
    # Of more than are listed only the crawl knows.
    elif found.total <= len(found.patterns) and pattern not in {row.pattern for row in found.patterns}:  # fmt: skip
        raise UsageError(
            f"the pattern {plain(pattern)} of {name} is not doubted: nothing of it is set aside",
            do=_NOTHING_TO_DO,
        )
