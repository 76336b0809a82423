"""Doubted URL patterns between the native node's JSON and the API's schemas."""

from collections.abc import Iterable
from typing import Any

from gossamer.control.schemas import DoubtedPattern, PatternPage, TakenUp, TakeUp
from gossamer.control.service import NotKnownError


def pattern_page(found: Iterable[tuple[str, dict[str, Any]]], limit: int) -> PatternPage:
    """One page of what each node told."""
    rows: list[DoubtedPattern] = []
    total = 0
    for node, told in found:
        total += told["total"]
        rows.extend(
            DoubtedPattern(**{**row, "host": row["host"] or ""}, node=node)
            for row in told["patterns"]
        )
    rows.sort(key=lambda row: (-row.set_aside, row.host, row.pattern))
    return PatternPage(patterns=rows[:limit], total=total)


def taken_up(asked: TakeUp, patterns: int, urls: int) -> TakenUp:
    """NotKnownError: nothing that was named is doubted."""
    if not patterns:
        of = f"the pattern {asked.pattern[:200]} of " if asked.pattern else "no URL pattern of "
        word = "is not doubted" if asked.pattern else "is doubted"
        raise NotKnownError(
            "not_doubted", f"{of}{asked.host[:100]} {word}; nothing of it is set aside"
        )
    return TakenUp(host=asked.host, patterns=patterns, urls=urls)


def words(taken: TakenUp, asked: TakeUp) -> str:
    """For the event log."""
    what = f"URLs like {asked.pattern}" if asked.pattern else "all that was set aside"
    return f"{taken.host}: {what} taken up by the operator, {taken.urls} URLs are queued again"
