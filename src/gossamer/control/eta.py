"""When the crawl will end: at a limit, or when the slowest host is done.

A host is visited once in a gap, however fast the others are, so what is queued is not done at the rate of
the whole crawl: the host that needs longest decides. New URLs make it longer, so it is the least time.
"""

from typing import Final, Protocol

from gossamer.model.progress import Progress

TIME: Final = "limits.time"
QUEUE: Final = "the queue, if no new URLs come"


class Limits(Protocol):
    """The limits that end a crawl."""

    @property
    def pages(self) -> int | None: ...
    @property
    def time(self) -> float | None: ...


def time_left(
    limits: Limits, progress: Progress, pages: float, visits: float
) -> tuple[float | None, str | None]:
    """Seconds, and what ends the crawl then; nothing where it cannot be told. `pages`, `visits`: a second."""
    ends: list[tuple[float, str]] = []
    if limits.time is not None:
        ends.append((limits.time - progress.seconds, TIME))
    if limits.pages is not None and pages > 0:
        missing = limits.pages - progress.pages - progress.pages_dropped
        ends.append((missing / pages, "limits.pages"))
    if (queue := _queue(progress, visits)) is not None:
        ends.append(queue)
    if not ends:
        return None, None
    left, what = min(ends)
    return round(max(0.0, left), 1), what


def _queue(progress: Progress, visits: float) -> tuple[float, str] | None:
    """When what is queued is done: at the rate of all, and not before the slowest host."""
    ends = [(progress.urls_queued / visits, QUEUE)] if visits > 0 else []
    if progress.slowest:
        slowest = max(progress.slowest, key=lambda host: host.left)
        ends.append((slowest.left, f"the slowest host, {slowest.host}, if no new URLs come"))
    return max(ends, default=None)
