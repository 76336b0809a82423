"""Routes that only look: status, nodes, partitions, hosts, URLs, events, history, alerts."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from gossamer.control.api.dependencies import REFUSALS, AccessDep, AuditDep, ServiceDep
from gossamer.control.schemas import (
    Access,
    Alert,
    AuditEntry,
    Change,
    CommandInfo,
    ControlNodeView,
    EventKind,
    EventPage,
    History,
    HostDetail,
    HostPage,
    HostQuery,
    HostRow,
    NodeView,
    OutcomeView,
    PartitionMap,
    PatternPage,
    PatternQuery,
    RunPage,
    SettingsView,
    Status,
    StoredPage,
    SubmissionFates,
    SubmissionPage,
    UrlAccount,
    VisitPage,
    VisitQuery,
)
from gossamer.policy.hosts.outcomes import REACTIONS, group

router = APIRouter(prefix="/api/v1", responses=REFUSALS)

HostName = Annotated[str, Path(min_length=1, max_length=300, description="as in its URLs")]
Number = Annotated[int | None, Query(ge=0, le=2**53)]
Limit = Annotated[int, Query(ge=1, le=500)]
DECADE = 315_360_000
"""Seconds: more than any crawl is old, and so all that is known."""


@router.get("/access", tags=["status"], summary="Who the caller is")
async def access(access: AccessDep) -> Access:
    return access


@router.get("/status", tags=["status"], summary="Counters of the whole crawl")
async def status(service: ServiceDep) -> Status:
    return await service.status()


@router.get("/alerts", tags=["status"], summary="What is stuck, and why")
async def alerts(service: ServiceDep) -> list[Alert]:
    return await service.alerts()


@router.get("/outcomes", tags=["status"], summary="Every outcome that a visit can have")
async def outcomes() -> list[OutcomeView]:
    return [
        OutcomeView(name=name, group=group(name), meaning=policy.meaning)
        for name, policy in REACTIONS.items()
    ]


@router.get("/history", tags=["status"], summary="Counters over time, for plots")
async def history(
    service: ServiceDep, seconds: Annotated[float, Query(gt=0, le=DECADE)] = 600.0
) -> History:
    return await service.history(seconds)


@router.get("/runs", tags=["status"], summary="Each start of the crawl and its end, last first")
async def runs(service: ServiceDep, before: Number = None, limit: Limit = 100) -> RunPage:
    return await service.runs(before, limit)


@router.get("/nodes", tags=["nodes"], summary="All crawl nodes")
async def nodes(service: ServiceDep) -> list[NodeView]:
    return await service.nodes()


@router.get(
    "/nodes/{node}/history", tags=["nodes"], summary="Counters of one node over time, for plots"
)
async def node_history(
    service: ServiceDep,
    node: Annotated[str, Path(min_length=1, max_length=300)],
    seconds: Annotated[float, Query(gt=0, le=3_600)] = 600.0,
) -> History:
    return await service.node_history(node, seconds)


@router.get("/control-nodes", tags=["nodes"], summary="All control nodes; who answers comes first")
async def control_nodes(service: ServiceDep) -> list[ControlNodeView]:
    return await service.control_nodes()


@router.get("/partitions", tags=["nodes"], summary="Who owns what, and moves under way")
async def partitions(service: ServiceDep) -> PartitionMap:
    return await service.partitions()


@router.get("/hosts", tags=["hosts"], summary="Hosts, sorted and searched, a page at a time")
async def hosts(service: ServiceDep, query: Annotated[HostQuery, Query()]) -> HostPage:
    return await service.hosts(query)


@router.get("/hosts/{host}", tags=["hosts"], summary="All that is known of a host")
async def host(service: ServiceDep, host: HostName) -> HostRow:
    return await service.host(host)


@router.get(
    "/hosts/{host}/detail", tags=["hosts"], summary="The first of its queue, and its robots files"
)
async def host_detail(service: ServiceDep, host: HostName) -> HostDetail:
    return await service.host_detail(host)


@router.get("/log", tags=["urls"], summary="The fetch log, newest first, a bounded part at a time")
async def visits(service: ServiceDep, query: Annotated[VisitQuery, Query()]) -> VisitPage:
    return await service.visits(query)


@router.get(
    "/stored", tags=["urls"], summary="What is stored of a URL's last visit, as plain text in JSON"
)
async def stored_page(
    service: ServiceDep, url: Annotated[str, Query(min_length=1, max_length=8192)]
) -> StoredPage:
    return await service.stored_page(url)


@router.get("/patterns", tags=["hosts"], summary="URL patterns that bring nothing new, and why")
async def patterns(service: ServiceDep, query: Annotated[PatternQuery, Query()]) -> PatternPage:
    return await service.patterns(query)


@router.get("/urls", tags=["urls"], summary="Why: what is known of a URL, and whose turn it is")
async def why(
    service: ServiceDep, url: Annotated[str, Query(min_length=1, max_length=8192)]
) -> UrlAccount:
    return await service.why(url)


@router.get("/seeds", tags=["seeds"], summary="Seeds submitted while the crawl ran, last first")
async def submissions(
    service: ServiceDep, before: Number = None, limit: Limit = 20
) -> SubmissionPage:
    return await service.submissions(before, limit)


@router.get("/seeds/{number}", tags=["seeds"], summary="What became of each seed")
async def submission(
    service: ServiceDep,
    number: Annotated[int, Path(ge=0, le=2**53, description="0: what the crawl was begun with")],
    offset: Annotated[int, Query(ge=0, le=10_000)] = 0,
    limit: Limit = 50,
) -> SubmissionFates:
    return await service.submission(number, offset, limit)


@router.get("/settings", tags=["settings"], summary="Every setting, with meaning and range")
async def settings(service: ServiceDep) -> SettingsView:
    return await service.settings()


@router.get("/settings/changes", tags=["settings"], summary="Who changed what and when, last first")
async def changes(service: ServiceDep, before: Number = None, limit: Limit = 50) -> list[Change]:
    return await service.setting_changes(before, limit)


@router.get("/commands", tags=["commands"], summary="Which commands there are now")
async def commands(service: ServiceDep) -> list[CommandInfo]:
    return await service.commands()


@router.get("/events", tags=["events"], summary="What happened, oldest first")
async def events(
    service: ServiceDep,
    after: Number = None,
    limit: Limit = 100,
    kind: Annotated[list[EventKind], Query(description="only these kinds; none: all")] = [],  # noqa: B006
) -> EventPage:
    return await service.events(after, limit, kind)


@router.get("/audit", tags=["events"], summary="The last lines of the audit log, oldest first")
async def audit_log(audit: AuditDep, limit: Limit = 100) -> list[AuditEntry]:
    return await audit.last(limit)
