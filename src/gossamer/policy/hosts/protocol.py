"""The door `hosts`: how much of a site is visited, how fast, and when it is left alone.

Asked every few seconds with the hosts (and URL patterns) that had activity since the last time.
Answered: budget, weight, delay, set aside, give up. No answer in time: nothing changes.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from gossamer.policy.answer import Reasons, booleans, integers, numbers, reasons
from gossamer.policy.batch import Batch

COLUMNS: Final = (
    "host", "pattern", "queued", "fetched", "new", "duplicate", "errors", "bytes", "in_domains",
    "since", "weight", "delay", "budget", "standing",
)  # fmt: skip

YEAR: Final = 366 * 86400.0
U32: Final = 2**32 - 1


@dataclass(frozen=True, slots=True)
class HostDecisions:
    """A column left out, or a None in it: nothing changes."""

    budget: Collection[int | None] | None = None
    """Pages of the host, or of the pattern, that may be visited in all."""
    weight: Collection[float | None] | None = None
    """Share of the crawl's attention; 1 is usual. Of a pattern: the scores of its URLs are multiplied by it."""
    delay: Collection[float | None] | None = None
    """Seconds between visits. It can make the gap longer, never shorter than politeness wants. Of hosts only."""
    set_aside: Collection[float | None] | None = None
    """Seconds without a visit from now on. Of hosts only."""
    give_up: Collection[bool | None] | None = None
    """True: nothing of the host, or of the pattern, is visited any more. False takes that back for a pattern."""
    reason: Reasons = None

    def columns(self, rows: int) -> dict[str, list[Any]]:
        found: dict[str, list[Any]] = {}
        if self.budget is not None:
            found["budget"] = integers("budget", self.budget, rows, most=U32)
        if self.weight is not None:
            found["weight"] = numbers("weight", self.weight, rows, most=1000.0)
        if self.delay is not None:
            found["delay"] = numbers("delay", self.delay, rows, most=YEAR)
        if self.set_aside is not None:
            found["set_aside"] = numbers("set_aside", self.set_aside, rows, most=YEAR)
        if self.give_up is not None:
            found["give_up"] = booleans("give_up", self.give_up, rows)
        return found | {"reason": reasons(self.reason, rows)}


class HostsPolicy(Protocol):
    """A policy that is called with the counters of hosts."""

    name: str
    columns: Sequence[str]
    """Those of `COLUMNS` that it asks for."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        """`settings`: the table `[policy.NAME]`; ValueError names what is wrong in it."""

    def judge(self, batch: Batch) -> HostDecisions: ...
