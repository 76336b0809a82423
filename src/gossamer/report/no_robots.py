"""Hosts that gave no robots file, so that nothing of them may be visited, and what they have queued.

The log tells which hosts may be such; what they still have queued, and how they stand, only a state knows.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import msgspec

from gossamer.report.hosts import HostTally


class Standing(NamedTuple):
    """What a state knows of a host."""

    queued: int
    unreachable: bool
    """Its robots file could not be had."""
    outcome: str | None
    """How the last try for it ended."""


class NoRobots(msgspec.Struct, frozen=True):
    """Hosts whose robots file was asked for in vain, with one outcome."""

    outcome: str
    urls: int
    """That they have queued."""
    hosts: list[str]
    """Those with most queued first."""


def no_robots(hosts: Iterable[HostTally], ask: Callable[[str], Standing | None]) -> list[NoRobots]:
    """By outcome, that of most URLs first. `ask`: a host's state; None: it has none."""
    found: dict[str, list[tuple[int, str]]] = {}
    for host in hosts:
        if host.robots is None or host.has_rules:
            continue
        standing = ask(host.host)
        if standing is not None and standing.unreachable and standing.queued:
            outcome = standing.outcome or host.robots
            found.setdefault(outcome, []).append((-standing.queued, host.host))
    groups = [
        NoRobots(
            outcome=outcome,
            urls=-sum(queued for queued, _ in rows),
            hosts=[name for _, name in sorted(rows)],
        )
        for outcome, rows in found.items()
    ]
    return sorted(groups, key=lambda one: (-one.urls, one.outcome))
