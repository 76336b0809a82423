"""Stage 3, seen: each URL passes once.

Takes canonical URLs, gives for each whether it is fresh; next is `frontier`. Exact by default,
RAM bounded by settings; see docs/path/3-seen.md. In a crawl the stage runs natively, on the state
that all stages share; `Seen` here is the stage on a state of its own, for tests and tools.
"""

from gossamer._native import (
    Seen,
    StateError,
    StateFormatError,
    StateFullError,
    StateInUseError,
    seen_kinds,
)

KINDS: tuple[str, ...] = tuple(seen_kinds())
"""The kinds by name, the default first."""

__all__ = [
    "KINDS",
    "Seen",
    "StateError",
    "StateFormatError",
    "StateFullError",
    "StateInUseError",
]
