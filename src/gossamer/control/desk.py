"""The desk: what every service has, whichever crawl it is for.

Events and who watches them, readings and alerts, the history of settings, the book of seeds, and which
commands there are. A service adds where the numbers come from and how a change is made.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal

import msgspec

from gossamer.control.alerts import Alerts
from gossamer.control.changes import Changes, override
from gossamer.control.history import Readings
from gossamer.control.newsroom import Newsroom
from gossamer.control.records import Records
from gossamer.control.seedbook import SeedBook, made
from gossamer.control.service import UnreachableError, WrongValueError
from gossamer.control.shapes import (
    Alert,
    Change,
    ChangeSettings,
    Command,
    CommandInfo,
    ControlNodeView,
    Event,
    EventKind,
    EventPage,
    HostAction,
    HostCommand,
    HostRow,
    SeedSubmission,
    SettingsView,
    Status,
    SubmissionPage,
)
from gossamer.settings import CrawlSettings

COUNTERS = (
    "pages", "bytes", "urls_seen", "urls_queued", "visits", "in_flight", "hosts_known",
    "hosts_active", "hosts_waiting", "hosts_set_aside", "hosts_blocked", "hosts_aliases",
    "reranking", "reranked",
    "outcomes", "rss", "disk", "seconds", "next_due",
)  # fmt: skip
"""Fields of `Progress` that a status gives as they are."""

TOLD = {
    Command.PAUSE: EventKind.PAUSED,
    Command.RESUME: EventKind.RESUMED,
    Command.STOP: EventKind.STOPPED,
    Command.CHECKPOINT: EventKind.CHECKPOINT,
    Command.RERANK: EventKind.RERANK,
    Command.ADD_NODE: EventKind.CONTROL,
}


class Desk(ABC):
    """One crawl's desk, in a directory of its own."""

    _never: ClassVar[Mapping[Command, str]] = {}
    """Commands that such a crawl does not have, and why."""

    def __init__(self, directory: Path, seeds: str, records: Records | None = None) -> None:
        """`records`: who numbers events and submissions for all control nodes; None: there is one."""
        self._records = records
        self._newsroom = Newsroom(directory / "events.jsonl", self._post if records else None)
        self._changes = Changes(directory / "settings.jsonl")
        self._seeds = SeedBook(directory / seeds)
        self._alerts = Alerts(self._newsroom)
        self._readings = Readings()
        self._status: Status | None = None
        self._reranked = 0
        # One change of settings at a time: each is checked against the one before it.
        self._changing = asyncio.Lock()

    async def _open(self) -> None:
        """Learns what earlier processes left."""
        for part in (self._newsroom, self._changes, self._seeds):
            await asyncio.to_thread(part.open)

    def _post(self, body: bytes, key: str | None) -> None:
        if self._records is not None:
            self._records.post("events", body, key)

    # --- what a service adds

    @abstractmethod
    def _settings(self) -> CrawlSettings:
        """The settings in force."""

    @abstractmethod
    def _wanted_now(self) -> Literal["run", "pause", "stop"]:
        """What the operator asked for last."""

    @abstractmethod
    async def _catch_up(self) -> None:
        """Learns of changes that were made elsewhere."""

    @abstractmethod
    async def _change(self, asked: ChangeSettings, who: str, *, undoes: int | None) -> Change:
        """Checks a change, makes it and keeps an account of it."""

    def _why_not(self, command: Command) -> str | None:
        """Why a command is not to be had now."""
        ending = "the crawl is about to end" if self._wanted_now() == "stop" else None
        return self._never.get(command, ending)

    def _keep(self, status: Status, *, tell: bool = True) -> None:
        """A new reading; tells when the queues are in their new order."""
        if status.reranking == 0 and status.reranked != self._reranked:
            moved = status.reranked - self._reranked
            if moved > 0 and tell:
                words = f"re-ranking is done: {moved} URLs have got another place"
                self._newsroom.tell(EventKind.RERANK, words, data={"moved": moved})
            self._reranked = status.reranked
        self._status = status

    # --- looking

    async def status(self) -> Status:
        if self._status is None:
            raise UnreachableError("not_ready", "it has just begun; ask again")
        return self._status

    async def control_nodes(self) -> list[ControlNodeView]:
        return (await self.status()).control

    async def alerts(self) -> list[Alert]:
        return self._alerts.standing()

    async def commands(self) -> list[CommandInfo]:
        reasons = {command: self._why_not(command) for command in Command}
        return [
            CommandInfo(command=command, available=reason is None, reason=reason)
            for command, reason in reasons.items()
        ]

    async def events(self, after: int | None, limit: int) -> EventPage:
        return self._newsroom.page(after, limit)

    def watch(self, after: int | None) -> AsyncIterator[Status | Event]:
        return self._newsroom.watch(after)

    # --- seeds

    async def submissions(self, before: int | None, limit: int) -> SubmissionPage:
        return await asyncio.to_thread(self._seeds.page, before, limit)

    async def _keep_seeds(
        self, urls: list[str], reasons: list[str | None], who: str
    ) -> SeedSubmission:
        if self._records is None:
            submission = await asyncio.to_thread(self._seeds.keep, urls, reasons, who)
        else:
            submission = made(urls, reasons, who)
            body = submission.model_dump_json().encode()
            number = await self._records.keep("submissions", body)
            if number is None:
                words = "the seeds are taken, but the engine has not numbered this submission yet"
                raise UnreachableError("no_number", words)
            submission = submission.model_copy(update={"id": number})
        words = f"{submission.taken} seeds taken, {submission.refused} refused"
        self._newsroom.tell(EventKind.SEEDS, words, who=who, data={"submission": submission.id})
        return submission

    # --- settings

    async def settings(self) -> SettingsView:
        return self._changes.view(self._settings())

    async def change_settings(self, change: ChangeSettings, who: str) -> Change:
        async with self._changing:
            await self._catch_up()
            return await self._change(change, who, undoes=None)

    async def undo_settings(self, version: int, who: str) -> Change:
        async with self._changing:
            await self._catch_up()
            return await self._change(self._changes.undoing(version), who, undoes=version)

    async def _set_gap(self, host: HostRow, seconds: float | None, who: str) -> None:
        """Another gap for one host, or the usual one; made of the settings as they are by then."""
        async with self._changing:
            await self._catch_up()
            settings = self._settings()
            if seconds is not None and seconds < settings.politeness.delay:
                raise WrongValueError(
                    "seconds",
                    f"slow_down takes no less than the usual gap, {settings.politeness.delay:g} s; "
                    "see politeness.overrides in the settings",
                )
            asked = ChangeSettings(values=override(settings, host.name, seconds))
            await self._change(asked, who, undoes=None)

    async def setting_changes(self, before: int | None, limit: int) -> list[Change]:
        return await asyncio.to_thread(self._changes.last, before, limit)

    def _tell_change(self, change: Change, who: str) -> None:
        for value in change.values:
            words = f"{value.name}: {_short(value.old)} became {_short(value.new)}"
            data: dict[str, Any] = {"version": change.version, "name": value.name}
            self._newsroom.tell(EventKind.SETTING, words, who=who, data=data)


def check_host_command(command: HostCommand) -> None:
    """Refuses a time where none is taken, and the lack of one where it is needed."""
    timed = command.action in {HostAction.SLOW_DOWN, HostAction.SET_ASIDE}
    if timed != (command.seconds is not None):
        word = "needs" if timed else "takes no"
        raise WrongValueError("seconds", f"{command.action.value} {word} `seconds`")


def _short(value: object) -> str:
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= 80 else f"{text[:77]}…"
