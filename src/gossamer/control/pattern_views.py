"""What nodes found about URL patterns and parameters, in the API's schemas."""

from collections.abc import Iterable
from typing import Any

import msgspec

from gossamer.control.schemas import (
    DoubtedPattern,
    LearntParameter,
    PatternPage,
    TakenUp,
    TakeUp,
)
from gossamer.control.service import NotKnownError
from gossamer.model.findings import Findings, Parameter, Pattern


def pattern_page(found: Iterable[tuple[str, Findings]], limit: int) -> PatternPage:
    """One page of what each node told."""
    rows: list[DoubtedPattern] = []
    parameters: list[LearntParameter] = []
    total = 0
    for node, told in found:
        total += told.total
        rows.extend(DoubtedPattern(**_fields(row, node)) for row in told.patterns)
        parameters.extend(LearntParameter(**_fields(row, node)) for row in told.parameters)
    rows.sort(key=lambda row: (-row.set_aside, row.host, row.pattern))
    parameters.sort(key=lambda row: (row.host, row.parameter, row.place))
    return PatternPage(patterns=rows[:limit], total=total, parameters=parameters[:limit])


def _fields(row: Pattern | Parameter, node: str) -> dict[str, Any]:
    return {**msgspec.structs.asdict(row), "host": row.host or "", "node": node}


def taken_up(asked: TakeUp, patterns: int, urls: int) -> TakenUp:
    """NotKnownError: nothing that was named is doubted."""
    if not patterns:
        host = asked.host[:100]
        if asked.pattern is None:
            words = f"no URL pattern of {host} is doubted; nothing of it is set aside"
        elif asked.pattern.startswith("?"):
            words = f"nothing was found about the parameter {asked.pattern[1:200]} of {host}: URLs keep it"
        else:
            words = f"the pattern {asked.pattern[:200]} of {host} is not doubted; nothing of it is set aside"
        raise NotKnownError("not_doubted", words)
    return TakenUp(host=asked.host, patterns=patterns, urls=urls)


def words(taken: TakenUp, asked: TakeUp) -> str:
    """For the event log."""
    what = f"URLs like {asked.pattern}" if asked.pattern else "all that was set aside"
    if asked.pattern and asked.pattern.startswith("?"):
        what = f"URLs with the parameter {asked.pattern[1:]}"
    return f"{taken.host}: {what} taken up by the operator, {taken.urls} URLs are queued again"
