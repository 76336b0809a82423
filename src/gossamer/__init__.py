"""Gossamer, a distributed web crawler. The names in `__all__` are public; nothing else is."""

from typing import TYPE_CHECKING, Any

from gossamer.errors import GossamerError, PolicyError, SettingsError, UsageError

if TYPE_CHECKING:
    from gossamer.policy import (
        Batch,
        Formula,
        HostDecisions,
        HostsPolicy,
        NextVisits,
        OrderPolicy,
        PageDecisions,
        PagesPolicy,
        RefreshPolicy,
        Scores,
    )

__version__ = "0.1.0"

__all__ = [
    "Batch",
    "Formula",
    "GossamerError",
    "HostDecisions",
    "HostsPolicy",
    "NextVisits",
    "OrderPolicy",
    "PageDecisions",
    "PagesPolicy",
    "PolicyError",
    "RefreshPolicy",
    "Scores",
    "SettingsError",
    "UsageError",
    "__version__",
]


def __getattr__(name: str) -> Any:
    """The names of policies when they are asked for: the command line need not load them."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from gossamer import policy  # noqa: PLC0415

    return getattr(policy, name)
