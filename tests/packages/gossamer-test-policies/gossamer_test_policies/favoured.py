"""Order: URLs with an even number come first, all others last."""

from collections.abc import Mapping
from typing import Any

from gossamer import Batch, Scores
from gossamer_test_policies.numbers import number


class Favoured:
    name = "favoured"
    columns = ("url",)

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._first = float(settings.get("first", 0.9))

    def score(self, batch: Batch) -> Scores:
        even = [number(url) % 2 == 0 for url in batch.column("url")]
        return Scores(
            [self._first if one else 0.1 for one in even],
            ["favoured: even" if one else "not favoured: odd" for one in even],
        )
