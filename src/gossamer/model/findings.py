"""What a node has found about URLs, as it tells it: patterns that are doubted, parameters that change nothing."""

from typing import Final, Protocol

import msgspec

ALL: Final = 10_000
"""Rows that are looked through for those of one host, or of one kind."""


class Pattern(msgspec.Struct, frozen=True):
    """A doubted pattern."""

    host: str | None
    pattern: str
    reason: str | None
    evidence: str | None
    visits: int
    set_aside: int
    taken_up: bool


class Parameter(msgspec.Struct, frozen=True):
    """What was found about a parameter."""

    host: str | None
    parameter: str
    place: str
    state: str
    evidence: str


class Findings(msgspec.Struct, frozen=True):
    """`total`: of the patterns, also of those that are not listed."""

    patterns: list[Pattern]
    total: int
    parameters: list[Parameter] = []


class Finding(Protocol):
    """What is needed of the native node."""

    def host(self, name: str) -> str | None: ...

    def doubted_patterns(self, most: int, host: str | None = None) -> str: ...

    def learnt_parameters(self, most: int) -> str: ...


class _Named(msgspec.Struct):
    name: str


def findings(node: Finding, most: int, host: str | None = None) -> Findings:
    """At most so many of each kind, of all hosts or of one, however its name is spelt."""
    name = None
    if host is not None:
        record = node.host(host)
        if record is None:
            return Findings([], 0)
        name = msgspec.json.decode(record, type=_Named).name
    found = msgspec.json.decode(node.doubted_patterns(most, name), type=Findings)
    text = node.learnt_parameters(most if name is None else max(most, ALL))
    learnt = msgspec.json.decode(text, type=list[Parameter])
    of_host = [row for row in learnt if name in (None, row.host)]
    return Findings(found.patterns, found.total, of_host[:most])
