"""The door `refresh`: when a page is visited again.

Asked before the batch of the page is sealed, so the answer is as durable as the page. Answered: the
next visit time, or 0 for never. No answer in time: never, or the interval of a rule.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from gossamer.policy.answer import Reasons, integers, reasons
from gossamer.policy.batch import Batch

COLUMNS: Final = (
    "url", "host", "depth", "outcome", "fetched_at", "first_visit", "visits", "changes", "unchanged",
    "last_change", "etag", "last_modified", "native_next",
)  # fmt: skip

LATEST: Final = 2**62
"""Of a time in microseconds since the epoch."""


@dataclass(frozen=True, slots=True)
class NextVisits:
    """Microseconds since the epoch; 0: never; None: as without a policy."""

    next_visit: Collection[int | None]
    reason: Reasons = None

    def columns(self, rows: int) -> dict[str, list[Any]]:
        return {
            "next_visit": integers("next_visit", self.next_visit, rows, most=LATEST),
            "reason": reasons(self.reason, rows),
        }


class RefreshPolicy(Protocol):
    """A policy that is called with visited pages."""

    name: str
    columns: Sequence[str]
    """Those of `COLUMNS` that it asks for. Times are microseconds since the epoch."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        """`settings`: the table `[policy.NAME]`; ValueError names what is wrong in it."""

    def next_visits(self, batch: Batch) -> NextVisits: ...
