"""Why hosts wait: after a failure, or because they asked for it; not the gap between two visits."""

from collections.abc import Iterable, Mapping
from typing import Protocol

import msgspec

MINUTE = 60
HOUR = 60 * MINUTE


class Wait(msgspec.Struct, frozen=True):
    """Hosts that wait for one reason, which is the last outcome that made them."""

    hosts: int
    host: str
    """The first of them to be tried again."""
    due: float
    """When that will be."""


class _AnyWait(Protocol):
    """Also as the control API gives it."""

    @property
    def hosts(self) -> int: ...
    @property
    def host(self) -> str: ...
    @property
    def due(self) -> float: ...


def added(parts: Iterable[Mapping[str, Wait]]) -> dict[str, Wait]:
    """The same over several nodes."""
    found: dict[str, Wait] = {}
    for part in parts:
        for reason, wait in part.items():
            other = found.get(reason, wait)
            first = min(wait, other, key=lambda one: one.due)
            hosts = wait.hosts + (other.hosts if reason in found else 0)
            found[reason] = Wait(hosts=hosts, host=first.host, due=first.due)
    return found


def in_words(waits: Mapping[str, _AnyWait], now: float, *, most: int = 3) -> list[str]:
    """A sentence for each reason, those with the most hosts first; the others together."""
    ranked = sorted(waits.items(), key=lambda item: (-item[1].hosts, item[1].due))
    texts = [
        f"{_hosts(wait.hosts)}: {reason}; next try {_when(wait.due - now)} ({wait.host})"
        for reason, wait in ranked[:most]
    ]
    if others := ranked[most:]:
        hosts = sum(wait.hosts for _, wait in others)
        reasons = "another reason" if len(others) == 1 else f"{len(others)} other reasons"
        texts.append(f"{hosts} more {'host waits' if hosts == 1 else 'hosts wait'} for {reasons}")
    return texts


def _hosts(number: int) -> str:
    return "1 host waits" if number == 1 else f"{number} hosts wait"


def _when(seconds: float) -> str:
    if seconds < 1:
        return "now"
    if seconds < 2 * MINUTE:
        return f"in {seconds:.0f} s"
    if seconds < 2 * HOUR:
        return f"in {seconds / MINUTE:.0f} min"
    return f"in {seconds / HOUR:.0f} h"
