"""Routes that change something. Each needs a token to operate and leaves a line in the audit log."""

from typing import Annotated

from fastapi import APIRouter, Path

from gossamer.control.api.dependencies import REFUSALS, AuditDep, ServiceDep, WhoDep
from gossamer.control.api.read_routes import HostName
from gossamer.control.schemas import (
    Change,
    ChangeSettings,
    CommandRequest,
    CommandResult,
    HostCommand,
    HostRow,
    NodeCommand,
    NodeView,
    SeedSubmission,
    SubmitSeeds,
    TakenUp,
    TakeUp,
)

router = APIRouter(prefix="/api/v1", responses=REFUSALS)


@router.post("/commands", tags=["commands"], summary="Pause, resume, stop, checkpoint …")
async def command(
    asked: CommandRequest, service: ServiceDep, audit: AuditDep, who: WhoDep
) -> CommandResult:
    async with audit.change(who, "command", None, new=asked.command.value) as line:
        result = await service.command(asked.command, who)
        line.done = result.confirmed
        return result


@router.post("/nodes/{node}/{command}", tags=["nodes"], summary="Pause, resume or remove a node")
async def node_command(
    node: Annotated[str, Path(min_length=1, max_length=100)],
    command: NodeCommand,
    service: ServiceDep,
    audit: AuditDep,
    who: WhoDep,
) -> NodeView:
    async with audit.change(who, "node", node, new=command.value):
        return await service.node_command(node, command, who)


@router.post("/hosts/{host}", tags=["hosts"], summary="Block, slow down, set aside, forget …")
async def host_command(
    host: HostName, asked: HostCommand, service: ServiceDep, audit: AuditDep, who: WhoDep
) -> HostRow:
    new = asked.model_dump(mode="json", exclude_none=True)
    async with audit.change(who, "host", host, new=new) as line:
        row = await service.host_command(host, asked, who)
        line.target = row.name
        return row


@router.post(
    "/patterns/take_up", tags=["hosts"], summary="Visit what is set aside of a host or a pattern"
)
async def take_up(asked: TakeUp, service: ServiceDep, audit: AuditDep, who: WhoDep) -> TakenUp:
    new = asked.model_dump(mode="json", exclude={"host"}, exclude_none=True)
    async with audit.change(who, "take_up", asked.host, new=new or None):
        return await service.take_up(asked, who)


@router.post("/seeds", tags=["seeds"], summary="Submit one seed or many")
async def submit_seeds(
    asked: SubmitSeeds, service: ServiceDep, audit: AuditDep, who: WhoDep
) -> SeedSubmission:
    first = [url[:200] for url in asked.urls[:10]]
    async with audit.change(who, "seeds", None, new={"count": len(asked.urls), "first": [*first]}):
        return await service.submit_seeds(asked.urls, who)


@router.patch("/settings", tags=["settings"], summary="Change settings, all together or none")
async def change_settings(
    asked: ChangeSettings, service: ServiceDep, audit: AuditDep, who: WhoDep
) -> Change:
    async with audit.change(who, "settings", None, new=dict(asked.values)) as line:
        change = await service.change_settings(asked, who)
        line.take(change)
        return change


@router.post("/settings/changes/{version}/undo", tags=["settings"], summary="Take a change back")
async def undo_settings(
    version: Annotated[int, Path(ge=1, le=2**53)],
    service: ServiceDep,
    audit: AuditDep,
    who: WhoDep,
) -> Change:
    async with audit.change(who, "settings", f"undo of version {version}", new=None) as line:
        change = await service.undo_settings(version, who)
        line.take(change)
        return change
