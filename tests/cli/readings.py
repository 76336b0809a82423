"""Readings of a crawl's counters, made up."""

from typing import Any

import msgspec

from gossamer.cluster.summary import NOTHING
from gossamer.model.progress import HostLine, Progress


def progress(**given: Any) -> Progress:
    """A crawl that has done nothing, but for what is given."""
    return msgspec.structs.replace(NOTHING, **given)


def host(
    name: str, *, queued: int = 0, pages: int = 0, gap: float = 1.0, left: float = 0.0
) -> HostLine:
    return HostLine(host=name, pages=pages, queued=queued, gap=gap, response=0.2, left=left)
