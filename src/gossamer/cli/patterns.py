"""`gossamer patterns`: what was learnt of URLs (patterns that are doubted, parameters that change nothing), and
how to overrule it.

A crawl that runs is asked through its control node; one that does not, in its own files.
"""

from pathlib import Path
from typing import Annotated, Protocol

import msgspec
import typer

from gossamer import _native
from gossamer.cli.aliases import open_crawl
from gossamer.cli.text import count, plain
from gossamer.control.client import Client, find
from gossamer.errors import GossamerError, StateInUseError, UsageError
from gossamer.policy.hosts.parameters import STATES

MOST = 1000
"""Patterns, and parameters, listed at most."""


class Pattern(msgspec.Struct, frozen=True):
    """A doubted pattern, as a node or the control API tells it."""

    host: str | None
    pattern: str
    reason: str | None
    evidence: str | None
    visits: int
    set_aside: int
    taken_up: bool


class Found(msgspec.Struct, frozen=True):
    patterns: list[Pattern]
    total: int


class Parameter(msgspec.Struct, frozen=True):
    """What was found about a parameter, as the native node tells it."""

    host: str | None
    parameter: str
    place: str
    state: str
    evidence: str


class Asked(Protocol):
    """A crawl, running or not."""

    def doubted(self, host: str | None) -> Found: ...

    def learnt(self, host: str | None) -> list[Parameter]: ...

    def take_up(self, host: str, pattern: str | None) -> int:
        """How many URLs are queued again. UsageError: nothing of it is doubted."""

    def close(self) -> None: ...


class Stopped:
    """A crawl that is not running, by its files."""

    def __init__(self, node: _native.Node) -> None:
        self._node = node

    def doubted(self, host: str | None) -> Found:
        return msgspec.json.decode(self._node.doubted_patterns(MOST, host), type=Found)

    def learnt(self, host: str | None) -> list[Parameter]:
        learnt = msgspec.json.decode(self._node.learnt_parameters(MOST), type=list[Parameter])
        return [row for row in learnt if host in (None, row.host)]

    def take_up(self, host: str, pattern: str | None) -> int:
        patterns, urls = self._node.take_up(host, pattern)
        if not patterns:
            of = f"the pattern {pattern} of {host}" if pattern else f"any URL pattern of {host}"
            raise UsageError(f"nothing is set aside of {plain(of)}: it is not doubted")
        return urls

    def close(self) -> None:
        self._node.close()


class Running:
    """A crawl that runs, by its control node."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def doubted(self, host: str | None) -> Found:
        return msgspec.convert(self._client.get("/patterns", host=host, limit=MOST), Found)

    def learnt(self, host: str | None) -> list[Parameter]:  # noqa: ARG002
        # Told when the crawl does not run; `why URL` tells of one URL at any time.
        return []

    def take_up(self, host: str, pattern: str | None) -> int:
        body = {"host": host} if pattern is None else {"host": host, "pattern": pattern}
        taken = self._client.post("/patterns/take_up", body)
        return int(taken["urls"])

    def close(self) -> None:
        """Nothing is held."""


def patterns(
    directory: Annotated[
        Path | None,
        typer.Argument(
            help="The crawl's directory, running or not [default: crawl-out].",
            metavar="DIR",
            show_default=False,
        ),
    ] = None,
    *,
    host: Annotated[str | None, typer.Option(help="Show only this host's patterns.")] = None,
    take_up: Annotated[
        list[str] | None,
        typer.Option(
            help="Visit what is set aside of this host, and doubt it no more.", metavar="HOST"
        ),
    ] = None,
    pattern: Annotated[
        str | None,
        typer.Option(
            help="With --take-up: only URLs of this pattern, as it is listed; '?NAME': the parameter NAME "
            "stays in URLs, and those that ended for it are visited."
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="The same as DIR.", metavar="DIR")] = None,
    control: Annotated[
        str | None,
        typer.Option(help="The control node of a crawl that runs elsewhere.", metavar="URL"),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show which URL patterns bring nothing new and which parameters change nothing, and overrule that."""
    if pattern is not None and not take_up:
        raise UsageError("--pattern names what --take-up HOST takes up; say which host")
    if directory is not None and out is not None and directory != out:
        raise UsageError("DIR and --out are the same thing; give one of them")
    where = directory or out
    crawl = _open(control, where)
    try:
        taken = {name: crawl.take_up(name, pattern) for name in take_up or []}
        found = crawl.doubted(host)
        learnt = crawl.learnt(host)
    finally:
        crawl.close()
    if json:
        value = {
            **msgspec.to_builtins(found),
            "parameters": msgspec.to_builtins(learnt),
            "taken_up": taken,
        }
        print(msgspec.json.encode(value).decode())
        return
    go_on = "" if isinstance(crawl, Running) else (
        f"; go on with: gossamer crawl --resume --out {where or 'crawl-out'}"
    )  # fmt: skip
    for name, urls in taken.items():
        print(f"{count(urls)} URLs of {plain(name)} are queued again{go_on}")
    _show(found)
    _show_parameters(learnt)


def _open(control: str | None, directory: Path | None) -> Asked:
    where = directory or Path("crawl-out")
    served = (where / "control" / "url").exists() or (where / "url").exists()
    if control is not None or (served and not (where / "state").exists()):
        return Running(find(control, directory))
    if (where / "nodes").is_dir():
        raise UsageError(
            f"the cluster in {where} does not run; start it again with "
            f"`gossamer cluster --resume --out {where}` and ask while it runs"
        )
    try:
        return Stopped(open_crawl(where))
    except StateInUseError as error:
        if not served:
            raise StateInUseError(
                f"the crawl in {where} runs without a control API, so nobody else can see its state; "
                "run it with --serve to see and steer it, or stop it with Ctrl-C and ask again"
            ) from error
    try:
        return Running(find(None, where))
    except UsageError as error:
        raise GossamerError(str(error)) from error


def _show(found: Found) -> None:
    if not found.patterns:
        print("No URL pattern is doubted.")
    for row in found.patterns:
        why = row.reason or row.evidence or "taken up"
        state = "are taken up now" if row.taken_up else "set aside"
        print(
            f"{plain(row.host or '?')}  {plain(row.pattern)}: {count(row.set_aside)} URLs {state}; {plain(why)}"
        )
    if found.total > len(found.patterns):
        print(
            f"… and {count(found.total - len(found.patterns))} more; --host HOST shows those of one host"
        )


def _show_parameters(learnt: list[Parameter]) -> None:
    for row in sorted(learnt, key=lambda row: (row.host or "", row.parameter, row.place)):
        evidence = "" if row.state == "kept" else f"; {row.evidence}"
        print(f"{plain(row.host or '?')}  {plain(row.place)}?{plain(row.parameter)}: "
              f"{STATES[row.state]}{evidence}")  # fmt: skip
