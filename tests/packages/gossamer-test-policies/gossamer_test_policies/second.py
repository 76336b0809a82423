"""Pages: a second processor, which adds a field to those of the first."""

from collections.abc import Mapping
from typing import Any

from gossamer import Batch, PageDecisions


class Second:
    name = "second"
    columns = ("text_bytes",)

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._settings = settings

    def process(self, batch: Batch) -> PageDecisions:
        return PageDecisions(fields=[{"length": size} for size in batch.column("text_bytes")])
