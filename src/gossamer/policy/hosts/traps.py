"""Traps: URLs of endless families, known by their shape and bounded by a budget.

A path that repeats itself (`/a/b/a/b/a/b/a/b`) comes from a relative link that grows, and is refused
at once, like a path longer than any that people write. Other shapes of endless families are also
shapes of good pages: each host has a budget of URLs of each shape (`limits.trap_budget`); what is
beyond it is refused as `trap_suspected`. Change a number in the table `[policy.traps]`.

The shapes are looked at natively, per link (`rust/core/src/links/trap.rs`); what counts is said here.
"""

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec

Segments = Annotated[int, msgspec.Meta(ge=1, le=64)]


class Traps(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The shapes."""

    long_path: Segments = 7
    """Segments from which a path counts as long."""
    grown_path: Segments = 4
    """Segments from which a path counts as growing: that of its parent and one more folder."""
    longest_path: Segments = 32
    """A path with more segments is refused at once."""
    repeats: Segments = 3
    """A run of segments that is repeated this often in a row is refused at once."""
    longest_run: Segments = 3
    """Runs of up to so many segments are looked for: a relative link that grows repeats the folders that it
    names, which are one or two, seldom three. Longer runs reach `longest_path` soon enough."""
    crowded_query: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 4
    """Parameters from which a query counts as crowded."""
    first_year: Annotated[int, msgspec.Meta(ge=0, le=3000)] = 1990
    """A date before this year, or after the next one, counts as far. Calendars of the web have nothing older, but
    go back for ever."""
    oldest_year: Annotated[int, msgspec.Meta(ge=0, le=9999)] = 1000
    """Four digits from this number …"""
    latest_year: Annotated[int, msgspec.Meta(ge=0, le=9999)] = 2999
    """… to this one read as a year; others are a number of something else (`/part/0042`, `/product/4711`)."""

    @classmethod
    def read(cls, settings: Mapping[str, Any]) -> "Traps":
        """From the table `[policy.traps]`; ValueError names what is wrong."""
        return msgspec.convert(dict(settings), cls)

    def to_native(self, budget: int) -> dict[str, object]:
        return {**msgspec.structs.asdict(self), "budget": budget}
