"""Interval: every page again after the same time, whatever it is."""

from collections.abc import Mapping
from typing import Any

from gossamer.policy.batch import Batch
from gossamer.policy.refresh.protocol import NextVisits
from gossamer.settings.units import duration, show_duration


class Interval:
    """`every`: from one visit to the next, such as `1d`."""

    name = "interval"
    columns = ("fetched_at",)

    def __init__(self, settings: Mapping[str, Any]) -> None:
        unknown = set(settings) - {"every"}
        if unknown:
            raise ValueError(f"unknown setting {min(unknown)}; known: every")
        self._every = duration(settings.get("every", "1d"))
        if self._every <= 0:
            raise ValueError("every: a time longer than 0 expected")

    def next_visits(self, batch: Batch) -> NextVisits:
        later = round(self._every * 1e6)
        return NextVisits(
            [time + later for time in batch.column("fetched_at")],
            f"every {show_duration(self._every)}",
        )
