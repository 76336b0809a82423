"""A declared order: a score as the sum of what is known of a URL, computed natively per link."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Protocol

BAND = 1 / 64
"""The queue has 64 bands; a score that differs by less may be in the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Formula:
    """score = base + depth * min(depth of the URL, deepest) + …, cut to 0 to 1."""

    base: float
    depth: float = 0.0
    """Added for each link from a seed."""
    deepest: int = 63
    """Further links do not count."""
    dynamic: float = 0.0
    """Added if the URL has a query."""
    parameter: float = 0.0
    """Added for each parameter of its query, up to 4."""
    parent: float = 0.0
    """Times the score of the page that led to it."""
    sitemap: float = 0.0
    """Added if a sitemap names it."""
    seed: float = 1.0
    """The score of seeds, and of what stands at their depth: redirects of seeds, sitemaps."""
    kinds: Mapping[str, float] = field(default_factory=dict)
    """Added by how the URL was found: `a`, `form`, `img`, … as in `match.kind` of a rule."""

    def to_native(self) -> dict[str, Any]:
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        return values | {"kinds": dict(self.kinds)}


class DeclaredOrder(Protocol):
    """An order without a method: its formula is all there is."""

    name: str
    formula: Formula
