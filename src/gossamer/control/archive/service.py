"""The service over a crawl's directory, composed of parts. Nothing is changed; what would, is refused."""

import asyncio
from collections.abc import AsyncIterator, Collection
from typing import NoReturn, Self

from gossamer.control.archive.crawl import ArchivedCrawl
from gossamer.control.archive.fetch_log import FetchLog
from gossamer.control.archive.hosts import Hosts
from gossamer.control.archive.past import history
from gossamer.control.archive.records import Records
from gossamer.control.archive.standing import Standing
from gossamer.control.archive.urls import Urls
from gossamer.control.pattern_views import pattern_page
from gossamer.control.run_pages import run_page
from gossamer.control.schemas import (
    Alert,
    Change,
    ChangeSettings,
    Command,
    CommandInfo,
    CommandResult,
    ControlNodeView,
    Event,
    EventKind,
    EventPage,
    History,
    HostCommand,
    HostDetail,
    HostPage,
    HostQuery,
    HostRow,
    NodeCommand,
    NodeView,
    PartitionMap,
    PatternPage,
    PatternQuery,
    RunPage,
    SeedSubmission,
    SettingsView,
    Status,
    StoredPage,
    SubmissionFates,
    SubmissionPage,
    TakenUp,
    TakeUp,
    UrlAccount,
    VisitPage,
    VisitQuery,
)
from gossamer.control.service import NotKnownError, RefusedError
from gossamer.control.submissions import fates
from gossamer.model.findings import findings
from gossamer.report.build import go_on_with

PAUSE = 1.0
"""Seconds between two signs of life to those who watch."""


class ArchiveService:
    """Shows a crawl that does not run."""

    def __init__(self, crawl: ArchivedCrawl) -> None:
        self._crawl = crawl
        self._standing = Standing(crawl)
        self._hosts = Hosts(crawl)
        self._urls = Urls(crawl)
        self._log = FetchLog(crawl, self._urls)
        self._records = Records(crawl)
        self._status: Status | None = None
        self._closed = asyncio.Event()

    async def __aenter__(self) -> Self:
        await asyncio.to_thread(self._records.open)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.let_go()

    def let_go(self) -> None:
        """Ends the streams of those who watch."""
        self._closed.set()

    def served_at(self, url: str) -> None:
        self._standing.url = url
        self._status = None

    # --- looking

    async def status(self) -> Status:
        if self._status is None:
            self._status = await asyncio.to_thread(
                self._standing.status, self._records.history.version
            )
        return self._status

    async def ready(self) -> str | None:
        return None

    async def alerts(self) -> list[Alert]:
        return [self._standing.alert(await self.status())]

    async def history(self, seconds: float) -> History:
        return await asyncio.to_thread(history, self._crawl.visits, seconds)

    async def runs(self, before: int | None, limit: int) -> RunPage:
        known = self._crawl.known
        return run_page(known.runs, before, limit, go_on=go_on_with(known))

    async def nodes(self) -> list[NodeView]:
        return await asyncio.to_thread(self._standing.nodes, await self.status())

    async def node_history(self, node: str, seconds: float) -> History:  # noqa: ARG002
        if node not in await asyncio.to_thread(self._crawl.directories):
            raise NotKnownError("no_such_node", f"there is no node {node[:100]}")
        # The log was counted for all nodes together; what each needed of its machine, nobody wrote down.
        return History(step=1.0, times=[], columns={}, outcomes={})

    async def control_nodes(self) -> list[ControlNodeView]:
        return (await self.status()).control

    async def partitions(self) -> PartitionMap:
        return await asyncio.to_thread(self._standing.partitions)

    async def hosts(self, query: HostQuery) -> HostPage:
        return await asyncio.to_thread(self._hosts.page, query)

    async def host(self, name: str) -> HostRow:
        return await asyncio.to_thread(self._hosts.row, name)

    async def host_detail(self, name: str) -> HostDetail:
        return await asyncio.to_thread(self._hosts.detail, name)

    async def visits(self, query: VisitQuery) -> VisitPage:
        return await asyncio.to_thread(self._log.visits, query)

    async def stored_page(self, url: str) -> StoredPage:
        return await asyncio.to_thread(self._log.stored_page, url)

    async def patterns(self, query: PatternQuery) -> PatternPage:
        def found() -> PatternPage:
            told = [
                (name, findings(node, query.limit, query.host))
                for name, node in self._crawl.nodes.items()
            ]
            return pattern_page(told, query.limit)

        return await asyncio.to_thread(found)

    async def why(self, url: str) -> UrlAccount:
        return await asyncio.to_thread(
            self._urls.why, url, self._records.history.changed_in("rule")
        )

    async def submissions(self, before: int | None, limit: int) -> SubmissionPage:
        return await asyncio.to_thread(self._records.submissions.page, before, limit)

    async def submission(self, number: int, offset: int, limit: int) -> SubmissionFates:
        submission = await asyncio.to_thread(self._records.submissions.get, number)
        seeds = submission.seeds[offset : offset + limit]
        visits = await asyncio.to_thread(self._urls.last_visits, [seed.url for seed in seeds])
        return fates(submission, offset, seeds, visits)

    async def settings(self) -> SettingsView:
        return self._records.history.view(self._crawl.settings)

    async def setting_changes(self, before: int | None, limit: int) -> list[Change]:
        return await asyncio.to_thread(self._records.history.last, before, limit)

    async def commands(self) -> list[CommandInfo]:
        reason = self._crawl.read_only
        return [CommandInfo(command=command, available=False, reason=reason) for command in Command]

    async def events(
        self, after: int | None, limit: int, kinds: Collection[EventKind] = ()
    ) -> EventPage:
        return self._records.events(after, limit, kinds)

    async def watch(self, after: int | None) -> AsyncIterator[Status | Event]:  # noqa: ARG002
        """The same status again and again: who watches knows that somebody answers."""
        while not self._closed.is_set():
            yield await self.status()
            try:
                async with asyncio.timeout(PAUSE):
                    await self._closed.wait()
            except TimeoutError:
                continue

    # --- what would change something

    def _refuse(self) -> NoReturn:
        raise RefusedError("read_only", self._crawl.read_only)

    async def node_command(self, node: str, command: NodeCommand, who: str) -> NodeView:  # noqa: ARG002
        self._refuse()

    async def host_command(self, name: str, command: HostCommand, who: str) -> HostRow:  # noqa: ARG002
        self._refuse()

    async def take_up(self, asked: TakeUp, who: str) -> TakenUp:  # noqa: ARG002
        self._refuse()

    async def submit_seeds(self, urls: list[str], who: str) -> SeedSubmission:  # noqa: ARG002
        self._refuse()

    async def change_settings(self, change: ChangeSettings, who: str) -> Change:  # noqa: ARG002
        self._refuse()

    async def undo_settings(self, version: int, who: str) -> Change:  # noqa: ARG002
        self._refuse()

    async def command(self, command: Command, who: str) -> CommandResult:  # noqa: ARG002
        self._refuse()
