"""What a crawl wrote down while it was served: events, changes of settings, submissions of seeds."""

from collections.abc import Collection

from gossamer.control.archive.crawl import ArchivedCrawl
from gossamer.control.event_log import EventLog
from gossamer.control.schemas import Event, EventKind, EventPage
from gossamer.control.setting_history import SettingHistory
from gossamer.control.submissions import Submissions


class Records:
    def __init__(self, crawl: ArchivedCrawl) -> None:
        self._crawl = crawl
        directory = crawl.control
        self.event_log = EventLog(directory / "events.jsonl")
        self.history = SettingHistory(directory / "settings.jsonl")
        # A cluster's control node has another use for the name.
        name = "submissions.jsonl" if crawl.known.cluster else "seeds.jsonl"
        self.submissions = Submissions(directory / name)

    def open(self) -> None:
        for part in (self.event_log, self.history, self.submissions):
            part.open()

    def events(self, after: int | None, limit: int, kinds: Collection[EventKind] = ()) -> EventPage:
        page = self.event_log.page(after, limit, kinds)
        if page.events or after or self.event_log.newest:
            return page
        # A crawl that was not served wrote none; when it began and ended is known all the same.
        visits = self._crawl.visits
        if visits.began is None or visits.ended is None:
            return page
        told = [
            Event(id=1, time=visits.began, kind=EventKind.STARTED, text="the first visit began"),
            Event(id=2, time=visits.ended, kind=EventKind.FINISHED, text=f"the last visit ended. {self._crawl.ending.words}"),
        ]  # fmt: skip
        told = [event for event in told if not kinds or event.kind in kinds]
        return EventPage(events=told[-limit:], next=None)
