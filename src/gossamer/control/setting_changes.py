"""Changing settings of a running crawl: one change at a time, each checked against the one before it."""

import asyncio
from typing import Any, Protocol

import msgspec

from gossamer.control.event_log import EventLog
from gossamer.control.schemas import Change, ChangeSettings, EventKind, HostRow, SettingsView
from gossamer.control.service import WrongValueError
from gossamer.control.setting_history import SettingHistory, override
from gossamer.settings import CrawlSettings


class Target(Protocol):
    """The crawl whose settings are changed."""

    def settings(self) -> CrawlSettings:
        """Those in force."""

    async def catch_up(self) -> None:
        """Learns of changes that were made elsewhere."""

    async def apply(self, after: CrawlSettings, change: Change) -> Change:
        """Checks what only it can check, applies, and keeps the change in the history."""


class SettingChanges:
    def __init__(self, history: SettingHistory, event_log: EventLog, target: Target) -> None:
        self._history = history
        self._event_log = event_log
        self._target = target
        self._changing = asyncio.Lock()

    @property
    def busy(self) -> bool:
        """A change is being made."""
        return self._changing.locked()

    def view(self) -> SettingsView:
        return self._history.view(self._target.settings())

    async def last(self, before: int | None, limit: int) -> list[Change]:
        return await asyncio.to_thread(self._history.last, before, limit)

    async def change(self, asked: ChangeSettings, who: str) -> Change:
        async with self._changing:
            await self._target.catch_up()
            return await self._make(asked, who)

    async def undo(self, version: int, who: str) -> Change:
        async with self._changing:
            await self._target.catch_up()
            return await self._make(self._history.undoing(version), who, undoes=version)

    async def set_gap(self, host: HostRow, seconds: float | None, who: str) -> None:
        """Another gap for one host, or the usual one; made of the settings as they are by then."""
        async with self._changing:
            await self._target.catch_up()
            settings = self._target.settings()
            if seconds is not None and seconds < settings.politeness.delay:
                raise WrongValueError(
                    "seconds",
                    f"slow_down takes no less than the usual gap, {settings.politeness.delay:g} s; "
                    "see politeness.overrides in the settings",
                )
            await self._make(ChangeSettings(values=override(settings, host.name, seconds)), who)

    async def _make(self, asked: ChangeSettings, who: str, undoes: int | None = None) -> Change:
        settings = self._target.settings()
        after, change = self._history.plan(settings, asked, who, undoes=undoes)
        change = await self._target.apply(after, change)
        for value in change.values:
            words = f"{value.name}: {_short(value.old)} became {_short(value.new)}"
            data: dict[str, Any] = {"version": change.version, "name": value.name}
            self._event_log.tell(EventKind.SETTING, words, who=who, data=data)
        return change


def _short(value: object) -> str:
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= 80 else f"{text[:77]}…"
