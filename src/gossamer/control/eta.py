"""When the crawl will end: a limit, or the queue at this rate."""

from gossamer.model.progress import Progress
from gossamer.settings.model import LimitSettings


def time_left(
    limits: LimitSettings, progress: Progress, pages: float, visits: float
) -> tuple[float | None, str | None]:
    """Seconds, and what ends the crawl then; nothing where it cannot be told."""
    ends: list[tuple[float, str]] = []
    if limits.time is not None:
        ends.append((limits.time - progress.seconds, "limits.time"))
    if limits.pages is not None and pages > 0:
        ends.append(
            ((limits.pages - progress.pages - progress.pages_dropped) / pages, "limits.pages")
        )
    if visits > 0:
        ends.append((progress.urls_queued / visits, "the queue, if no new URLs come"))
    if not ends:
        return None, None
    left, what = min(ends)
    return round(max(0.0, left), 1), what
