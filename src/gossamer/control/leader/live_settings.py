"""The settings in force: kept in the engine for every node, followed by every control node.

Guarantees: a change is a compare-and-set on the one before it, and its account (who, when, which
values) is in the same record, so none is lost. What belongs to a machine never leaves it.
"""

import contextlib

import msgspec

from gossamer.cluster.crawl_state import CrawlState
from gossamer.cluster.messages import encode
from gossamer.cluster.shared_settings import read_settings, with_own, write_settings
from gossamer.errors import ConflictError, EngineAwayError
from gossamer.settings import CrawlSettings


class LiveSettings:
    """One control node's knowledge of them."""

    def __init__(self, state: CrawlState, settings: CrawlSettings) -> None:
        self._state = state
        self.current = settings
        self.change = 0
        """Grows with each change."""

    def follow(self) -> None:
        """Takes what was read last: another control node may have changed them."""
        crawl = self._state.crawl
        if crawl is not None and crawl.change != self.change:
            self.current = with_own(read_settings(crawl.settings), self.current)
            self.change = crawl.change

    async def refresh(self) -> None:
        """Learns now what another control node may have changed."""
        await self._state.refresh()
        self.follow()

    async def set(
        self, settings: CrawlSettings, expected: int | None = None, account: str = ""
    ) -> int:
        """Live settings for every node; gives the number of the change.

        `expected`: the change before it; another one is a `ConflictError`. Asked again with the same
        account, it is made once.
        """
        state = self._state
        while True:
            await state.refresh()
            crawl = state.crawl
            if crawl is None or state.crawl_revision is None:
                raise EngineAwayError("the crawl is not known yet")
            if account and crawl.account == account:
                # Made by an earlier try, whose answer did not come.
                return crawl.change
            if expected is not None and crawl.change != expected:
                raise ConflictError(f"the settings are at change {crawl.change} by now")
            if crawl.account:
                with contextlib.suppress(ConflictError):
                    await state.crawls.create(f"change.{crawl.change}", crawl.account.encode())
            changed = msgspec.structs.replace(
                crawl, settings=write_settings(settings), change=crawl.change + 1, account=account
            )
            try:
                await state.crawls.update("crawl", encode(changed), state.crawl_revision)
            except ConflictError:
                continue
            self.current, self.change = settings, changed.change
            return changed.change
