"""Gossamer, a distributed web crawler. The names in `__all__` are public; nothing else is."""

from gossamer.errors import GossamerError, PolicyError, SettingsError, UsageError
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
