"""The API of a folder's page: the list, and what can be done with each crawl. Behind the guard of the control API."""

from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Depends, FastAPI, Path, Query, Request
from starlette.responses import Response

from gossamer.control.api.app import DASHBOARD, Entrance, guarded_app
from gossamer.control.api.dependencies import (
    REFUSALS,
    TEXT_REFUSALS,
    AccessDep,
    AuditDep,
    WhoDep,
)
from gossamer.control.schemas import Access, AuditEntry
from gossamer.crawls.schemas import CrawlList, CrawlRow, Entered, GoOn, NewCrawl
from gossamer.crawls.service import CrawlsService

router = APIRouter(prefix="/api/v1", responses=REFUSALS)


def _service(request: Request) -> CrawlsService:
    service: CrawlsService = request.app.state.service
    return service


def _host(request: Request) -> str:
    # The guard has let it pass: it is a name of ours.
    return request.headers["host"]


ServiceDep = Annotated[CrawlsService, Depends(_service)]
HostDep = Annotated[str, Depends(_host)]
Name = Annotated[str, Path(min_length=1, max_length=300, description="as in the list")]


def make_crawls_app(service: CrawlsService, entrance: Entrance) -> FastAPI:
    app = guarded_app(
        title="Gossamer crawls",
        summary="The crawls of a folder, and a way to start one.",
        routers=[router],
        page=DASHBOARD / "crawls.html",
        entrance=entrance,
    )
    app.state.service = service
    return app


@router.get("/access", tags=["crawls"], summary="Who the caller is")
async def access(access: AccessDep) -> Access:
    return access


@router.get("/crawls", tags=["crawls"], summary="The crawls of the folder")
async def crawls(service: ServiceDep) -> CrawlList:
    return await service.list()


@router.post("/crawls", tags=["crawls"], summary="Start a crawl", status_code=201)
async def start(
    asked: NewCrawl, service: ServiceDep, audit: AuditDep, who: WhoDep, host: HostDep
) -> Entered:
    # Without values of settings, which may be secret.
    told = asked.model_dump(mode="json", exclude={"name", "seeds", "settings"}, exclude_none=True)
    seeds = [line[:200] for line in asked.seeds.split()[:10]]
    names = [line.partition("=")[0].strip()[:100] for line in asked.settings.splitlines()[:100]]
    new = {**told, "seeds": [*seeds], "settings": [*names]}
    async with audit.change(who, "start", asked.name, new=new):
        return await service.start(asked, host)


@router.post("/crawls/{name}/go_on", tags=["crawls"], summary="Go on with a crawl")
async def go_on(
    name: Name, asked: GoOn, *, service: ServiceDep, audit: AuditDep, who: WhoDep, host: HostDep
) -> Entered:
    new = asked.model_dump(mode="json", exclude_none=True)
    async with audit.change(who, "go_on", name, new=new or None):
        return await service.go_on(name, asked, host)


@router.post("/crawls/{name}/stop", tags=["crawls"], summary="Save everything and end a crawl")
async def stop(name: Name, service: ServiceDep, audit: AuditDep, who: WhoDep) -> CrawlRow:
    async with audit.change(who, "stop", name, new=None):
        return await service.stop(name)


@router.post("/crawls/{name}/open", tags=["crawls"], summary="The way into its dashboard")
async def open_(
    name: Name, service: ServiceDep, audit: AuditDep, who: WhoDep, host: HostDep
) -> Entered:
    """Of a crawl that does not run a read-only one is opened, until it is closed or the page ends."""
    async with audit.change(who, "open", name, new=None):
        return await service.open(name, host)


@router.post("/crawls/{name}/close", tags=["crawls"], summary="Close what `open` has opened")
async def close(name: Name, service: ServiceDep, audit: AuditDep, who: WhoDep) -> CrawlRow:
    """Others can go on with the crawl then."""
    async with audit.change(who, "close", name, new=None):
        return await service.close(name)


@router.get(
    "/crawls/{name}/report",
    tags=["crawls"],
    summary="The report as one HTML file",
    response_class=Response,
    responses={200: {"content": {"text/html": {}}}, **TEXT_REFUSALS},
)
async def report(name: Name, service: ServiceDep) -> Response:
    content = await service.report(name)
    # To be kept, not shown here: what sites say of themselves is never a page of ours.
    kept = f"attachment; filename*=UTF-8''{quote(name, safe='')}-report.html"
    headers = {"Content-Disposition": kept}
    return Response(content, media_type="text/html; charset=utf-8", headers=headers)


@router.get("/audit", tags=["crawls"], summary="The last lines of the audit log, oldest first")
async def audit_log(
    audit: AuditDep, limit: Annotated[int, Query(ge=1, le=500)] = 100
) -> list[AuditEntry]:
    return await audit.last(limit)
