"""The service: what a crawl can tell and do. The API talks to this and to nothing else.

Every method is awaited in the API's event loop and must not block it. `who` is the audit log's name
of the caller (`operate:1a2b3c4d`). Reading costs counters, never scans of a store.

What cannot be done is raised: `NotKnownError` (404), `RefusedError` (409: not now or not here, with
the reason), `WrongValueError` (422), `UnreachableError` (503: nobody answers for that part now).
"""

from collections.abc import AsyncIterator, Collection
from typing import Protocol

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
from gossamer.errors import DiskFullError, EngineError, GossamerError, UsageError


class ServiceError(GossamerError):
    """What was asked for was not done; `code` is short and stable."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail


class NotKnownError(ServiceError):
    """There is no such host, node, version or submission."""


class RefusedError(ServiceError):
    """It exists and cannot be done now, or not in this crawl."""


class WrongValueError(ServiceError):
    """A value that cannot be used; the message names it."""


class UnreachableError(ServiceError):
    """The node or the engine that would have to answer does not.

    `again`: seconds after which asking again may help; None: asking again is of no use, or would do
    twice what was done.
    """

    def __init__(self, code: str, detail: str, *, again: int | None = 2) -> None:
        super().__init__(code, detail)
        self.again = again


def service_error(error: GossamerError) -> ServiceError:
    """What a node or the leading control node failed with, as the API tells it.

    Wrong use is refused; what is away may be asked again; a failure of the node itself is neither.
    """
    if isinstance(error, ServiceError):
        return error
    if isinstance(error, DiskFullError):
        return RefusedError("disk_full", error.in_words())
    if isinstance(error, UsageError):
        return RefusedError("not_done", error.in_words())
    if isinstance(error, EngineError):
        return UnreachableError("no_answer", error.in_words())
    return UnreachableError("failed", error.in_words(), again=None)


class Service(Protocol):
    """One crawl, standalone or a cluster."""

    async def status(self) -> Status: ...

    async def ready(self) -> str | None:
        """`None`: the crawl can be seen and steered; otherwise why not."""

    async def alerts(self) -> list[Alert]: ...

    async def history(self, seconds: float) -> History:
        """Readings of the last `seconds`, at the finest step that reaches back so far."""

    async def runs(self, before: int | None, limit: int) -> RunPage:
        """Each start of the crawl, the last first; none where no file tells them."""

    async def nodes(self) -> list[NodeView]: ...

    async def node_history(self, node: str, seconds: float) -> History:
        """Counters of one node over the last `seconds`, an hour at most."""

    async def control_nodes(self) -> list[ControlNodeView]: ...

    async def node_command(self, node: str, command: NodeCommand, who: str) -> NodeView: ...

    async def partitions(self) -> PartitionMap: ...

    async def hosts(self, query: HostQuery) -> HostPage: ...

    async def host(self, name: str) -> HostRow: ...

    async def host_detail(self, name: str) -> HostDetail:
        """The first of its queue, and its robots files."""

    async def visits(self, query: VisitQuery) -> VisitPage:
        """Lines of the fetch log, newest first, of a bounded part of it."""

    async def stored_page(self, url: str) -> StoredPage:
        """What is stored of the last visit to a URL, as text."""

    async def host_command(self, name: str, command: HostCommand, who: str) -> HostRow: ...

    async def patterns(self, query: PatternQuery) -> PatternPage:
        """URL patterns that are doubted, those with most URLs set aside first."""

    async def take_up(self, asked: TakeUp, who: str) -> TakenUp:
        """What is set aside of a host or a pattern is visited after all; safe when this answers."""

    async def why(self, url: str) -> UrlAccount: ...

    async def submit_seeds(self, urls: list[str], who: str) -> SeedSubmission:
        """Every seed is taken, or refused with a reason; those taken are durable."""

    async def submissions(self, before: int | None, limit: int) -> SubmissionPage: ...

    async def submission(self, number: int, offset: int, limit: int) -> SubmissionFates:
        """What became of its seeds; number 0: those that the crawl was begun with."""

    async def settings(self) -> SettingsView: ...

    async def change_settings(self, change: ChangeSettings, who: str) -> Change:
        """Checked as a whole, made durable, then applied by every node."""

    async def undo_settings(self, version: int, who: str) -> Change:
        """Sets the values of a version back to those before it, as a new version."""

    async def setting_changes(self, before: int | None, limit: int) -> list[Change]:
        """The last changes first."""

    async def commands(self) -> list[CommandInfo]: ...

    async def command(self, command: Command, who: str) -> CommandResult:
        """Answers when every node has confirmed, or has not in the time allowed."""

    async def events(
        self, after: int | None, limit: int, kinds: Collection[EventKind] = ()
    ) -> EventPage:
        """Those after an id, oldest first; without an id, the last ones. No kind: all kinds."""

    def watch(self, after: int | None) -> AsyncIterator[Status | Event]:
        """Status once a second and every event, from now on or from after an id, until closed."""
