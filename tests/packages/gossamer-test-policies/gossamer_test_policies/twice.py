"""Refresh: some pages are visited a second time soon after the first, and then never again."""

from collections.abc import Mapping
from typing import Any

from gossamer import Batch, NextVisits
from gossamer_test_policies.numbers import number


class Twice:
    """Pages whose number can be divided by 3. `after`: seconds from the first visit."""

    name = "twice"
    columns = ("url", "fetched_at", "visits")

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._after = round(float(settings.get("after", 0.2)) * 1e6)

    def next_visits(self, batch: Batch) -> NextVisits:
        rows = zip(
            batch.column("url"), batch.column("fetched_at"), batch.column("visits"), strict=True
        )
        again = [
            time + self._after if visits <= 1 and number(url) % 3 == 0 else 0
            for url, time, visits in rows
        ]
        return NextVisits(again, ["once more" if time else None for time in again])
