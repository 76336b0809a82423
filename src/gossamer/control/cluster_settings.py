"""The settings of a cluster: changed in the engine, confirmed by every node, with a history everywhere."""

import asyncio
import contextlib
import time

from gossamer.cluster.requests import persist
from gossamer.control.confirmations import ConfirmedCommands
from gossamer.control.leader.commands import PATIENCE
from gossamer.control.leader.control_node import ControlNode
from gossamer.control.schemas import Change
from gossamer.control.service import RefusedError, UnreachableError, WrongValueError
from gossamer.control.setting_history import SettingHistory
from gossamer.errors import ConflictError, EngineError, SettingsError
from gossamer.policy.chosen import check_change
from gossamer.settings import CrawlSettings


class ClusterSettings:
    """What `SettingChanges` needs of a cluster."""

    def __init__(
        self, node: ControlNode, history: SettingHistory, confirmed: ConfirmedCommands
    ) -> None:
        self._node = node
        self._history = history
        self._confirmed = confirmed

    def settings(self) -> CrawlSettings:
        return self._node.settings.current

    async def catch_up(self) -> None:
        try:
            await persist(self._node.settings.refresh, PATIENCE)
        except EngineError as error:
            raise UnreachableError("no_answer", str(error)) from error
        await self.sync()
        crawl = self._node.state.crawl
        if crawl is not None and crawl.change > self._history.version:
            # A version that could not be read is not one that there is not.
            words = f"the settings are at version {crawl.change}; their history could not be read"
            raise UnreachableError("no_answer", words)

    async def sync(self) -> None:
        """The history of settings is in the engine and in every control node's own file."""
        state = self._node.state
        crawl = state.crawl
        if crawl is None or crawl.change <= self._history.version:
            return
        with contextlib.suppress(EngineError, ValueError):
            for version in range(self._history.version + 1, crawl.change + 1):
                entry = await state.crawls.get(f"change.{version}")
                known = entry.value if entry else b""
                if version == crawl.change:
                    known = crawl.account.encode()
                if known:
                    change = Change.model_validate_json(known)
                else:
                    # Made by an older program, which keeps no account of it.
                    change = Change(
                        version=version, time=round(time.time(), 3), who="unknown",
                        undoes=None, values=[],
                    )  # fmt: skip
                await asyncio.to_thread(self._history.keep, change)

    async def apply(self, after: CrawlSettings, change: Change) -> Change:
        try:
            await asyncio.to_thread(check_change, self.settings(), after)
            await asyncio.to_thread(self._node.coder.check, after)
        except (SettingsError, ValueError) as error:
            raise WrongValueError("wrong_setting", str(error)) from error
        account = change.model_dump_json()
        live = self._node.settings
        try:
            await persist(lambda: live.set(after, change.version - 1, account), PATIENCE)
        except ConflictError as error:
            raise RefusedError("other_version", "somebody else changed them; look again") from error
        except EngineError as error:
            raise UnreachableError("not_kept", str(error)) from error
        await asyncio.to_thread(self._history.keep, change)
        done = await self._confirmed.confirmed(lambda known: known.settings >= change.version)
        names = [row.node for row in done if row.confirmed]
        return change.model_copy(update={"applied_by": names})
