"""The four doors at which policies are called: what each asks, and what it takes for an answer."""

from dataclasses import dataclass
from typing import Any, Final, Protocol

from gossamer.policy.hosts import protocol as hosts
from gossamer.policy.order import protocol as order
from gossamer.policy.order.arrival import Arrival
from gossamer.policy.order.breadth import Breadth
from gossamer.policy.order.deep import Deep
from gossamer.policy.order.static import Static
from gossamer.policy.pages import protocol as pages
from gossamer.policy.refresh import protocol as refresh
from gossamer.policy.refresh.interval import Interval


class Answer(Protocol):
    """What a policy gives back: columns, checked when they are taken out."""

    def columns(self, rows: int) -> dict[str, list[Any]]: ...


@dataclass(frozen=True, slots=True)
class Door:
    """What all policies of a door share."""

    name: str
    method: str
    answer: type[Answer]
    columns: tuple[str, ...]
    """All that can be asked for."""
    shipped: tuple[type, ...] = ()

    @property
    def group(self) -> str:
        """The entry points by which packages add policies."""
        return f"gossamer.{self.name}"


DOORS: Final = {
    door.name: door
    for door in (
        Door("pages", "process", pages.PageDecisions, pages.COLUMNS),
        Door("order", "score", order.Scores, order.COLUMNS, (Breadth, Deep, Arrival, Static)),
        Door("refresh", "next_visits", refresh.NextVisits, refresh.COLUMNS, (Interval,)),
        Door("hosts", "judge", hosts.HostDecisions, hosts.COLUMNS),
    )
}
