"""A crawl in this process, as its service sees it, and how its settings are changed."""

import asyncio
from collections.abc import Callable
from typing import Final, Protocol, TypeVar

from gossamer import _native
from gossamer.control.schemas import Change
from gossamer.control.service import UnreachableError, WrongValueError
from gossamer.control.setting_history import SettingHistory
from gossamer.errors import GossamerError, SettingsError
from gossamer.settings import CrawlSettings

NODE: Final = "standalone"
"""The name of the only node."""

T = TypeVar("T")


class RunningCrawl(Protocol):
    """What the service needs of a crawl in this process."""

    stop_wanted: bool

    @property
    def settings(self) -> CrawlSettings: ...

    @property
    def node(self) -> _native.Node: ...

    async def ask(self, action: Callable[[_native.Node], T]) -> T:
        """Asks or tells the node something between two of its slices."""

    async def apply(self, settings: CrawlSettings) -> None:
        """Works with other live settings from now on; `SettingsError`: nothing is changed."""


class StandaloneSettings:
    """What `SettingChanges` needs of a crawl in this process."""

    def __init__(self, crawl: RunningCrawl, history: SettingHistory) -> None:
        self._crawl = crawl
        self._history = history

    def settings(self) -> CrawlSettings:
        return self._crawl.settings

    async def catch_up(self) -> None:
        """Nobody else changes the settings of this crawl."""

    async def apply(self, after: CrawlSettings, change: Change) -> Change:
        try:
            # The native part checks what only it can (regular expressions, ranges), and applies.
            await self._crawl.apply(after)
        except SettingsError as error:
            raise WrongValueError("wrong_setting", str(error)) from error
        except GossamerError as error:
            raise UnreachableError("not_kept", str(error), again=None) from error
        change = change.model_copy(update={"applied_by": [NODE]})
        await asyncio.to_thread(self._history.keep, change)
        return change
