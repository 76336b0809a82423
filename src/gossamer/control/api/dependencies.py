"""What a route is given beside its request: the service, the caller, the audit log."""

from typing import Annotated

from fastapi import Depends, Request

from gossamer.control.audit_log import AuditLog
from gossamer.control.schemas import Access, Problem
from gossamer.control.service import Service


def _service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


def _audit(request: Request) -> AuditLog:
    audit: AuditLog = request.app.state.audit
    return audit


def _access(request: Request) -> Access:
    # Put there by the guard, before any route is looked for.
    access: Access = request.state.access
    return access


def _who(request: Request) -> str:
    access = _access(request)
    return f"{access.role.value}:{access.token_id}"


ServiceDep = Annotated[Service, Depends(_service)]
AuditDep = Annotated[AuditLog, Depends(_audit)]
AccessDep = Annotated[Access, Depends(_access)]
WhoDep = Annotated[str, Depends(_who)]

REFUSALS: dict[int | str, dict[str, object]] = {
    400: {"model": Problem, "description": "not a request that can be read"},
    401: {"model": Problem, "description": "no token, or a wrong one"},
    403: {"model": Problem, "description": "the token, Host or Origin does not allow this"},
    404: {"model": Problem, "description": "not known"},
    409: {"model": Problem, "description": "not now, or not in this crawl"},
    413: {"model": Problem, "description": "the request is too large"},
    422: {"model": Problem, "description": "a value that cannot be used"},
    429: {"model": Problem, "description": "too many wrong tokens; wait"},
    503: {"model": Problem, "description": "nobody answers for that now"},
}

TEXT_REFUSALS: dict[int | str, dict[str, object]] = {
    status: {
        "description": refusal["description"],
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
    for status, refusal in REFUSALS.items()
}
"""The same for routes that answer text: their refusals are JSON too."""
