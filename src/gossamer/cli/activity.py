"""What a crawl does and how long it takes, in words for a terminal."""

from typing import Final

from gossamer.control.eta import TIME
from gossamer.model.progress import Activity
from gossamer.words import span

ACTIVITY: Final = {
    Activity.RUNNING: ("crawling", "green"),
    Activity.PAUSED: ("paused", "yellow"),
    Activity.DISK_FULL: ("waiting for room on the disk", "red"),
    Activity.FINISHED: ("finished", "green"),
    Activity.LIMIT_REACHED: ("limit reached", "green"),
    Activity.STOPPED: ("stopped", "yellow"),
    Activity.UNKNOWN: ("not running", "yellow"),
}
"""What a crawl does, in words and a colour."""


def left_words(seconds: float | None, ends_by: str | None) -> str:
    """The time left: a limit of time holds at the latest, all others are the least."""
    if seconds is None:
        return ""
    return f"{'at most' if ends_by == TIME else 'at least'} {span(seconds)} left"
