"""Pages: some are dropped, the others get fields, and every page names one more link."""

from collections.abc import Mapping
from typing import Any

from gossamer import Batch, PageDecisions
from gossamer_test_policies.numbers import number


class Marking:
    """Pages whose number has the remainder 4 by 5 are not stored. `link`: found on every page."""

    name = "marking"
    columns = ("url", "title", "links")

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._link = settings.get("link")

    def process(self, batch: Batch) -> PageDecisions:
        keep = [number(url) % 5 != 4 for url in batch.column("url")]
        rows = zip(batch.column("title"), batch.column("links"), keep, strict=True)
        return PageDecisions(
            keep=keep,
            fields=[
                {"heading": title, "outlinks": len(links or [])} if kept else None
                for title, links, kept in rows
            ],
            links=[[self._link] if self._link else None for _ in keep],
            reason=[None if kept else "its number is not wanted" for kept in keep],
        )
