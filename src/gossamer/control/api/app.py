"""The application: routes behind the guard, refusals in one shape, the dashboard's files."""

import mimetypes
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, NamedTuple

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.staticfiles import StaticFiles

import gossamer
from gossamer.control.api import change_routes, metrics, read_routes, stream_routes
from gossamer.control.api.guard import BodyTooLargeError, Guard, problem
from gossamer.control.audit_log import AuditLog
from gossamer.control.service import (
    NotKnownError,
    RefusedError,
    Service,
    ServiceError,
    UnreachableError,
    WrongValueError,
)
from gossamer.control.tokens import Tokens
from gossamer.logging import logger

DASHBOARD: Final = Path(__file__).parents[1] / "dashboard"
"""Where the dashboard's files are: `index.html`, and `static/` beside it."""

_log = logger("api")
_STATUS: Final[dict[type[ServiceError], int]] = {
    NotKnownError: 404,
    RefusedError: 409,
    WrongValueError: 422,
    UnreachableError: 503,
}
_CODES: Final = {400: "bad_request", 404: "no_such_route", 405: "wrong_method"}


class Entrance(NamedTuple):
    """Who may come in, and where it is written down what they change."""

    tokens: Tokens
    audit: AuditLog
    authorities: list[str]
    """What `Host` may be."""
    origins: list[str]
    """What `Origin` may be."""


def make_app(
    service: Service,
    *,
    tokens: Tokens,
    audit: AuditLog,
    authorities: Iterable[str],
    origins: Iterable[str],
    dashboard: Path = DASHBOARD,
) -> FastAPI:
    """The API over a service. `authorities`, `origins`: what `Host` and `Origin` may be."""
    app = guarded_app(
        title="Gossamer control API",
        summary="See everything, change anything, from one place.",
        routers=[part.router for part in (read_routes, change_routes, stream_routes, metrics)],
        page=dashboard / "index.html",
        entrance=Entrance(tokens, audit, list(authorities), list(origins)),
    )
    app.state.service = service
    return app


def guarded_app(
    *, title: str, summary: str, routers: list[APIRouter], page: Path, entrance: Entrance
) -> FastAPI:
    """Routes behind the guard, and a page with the files in `static/` beside it."""
    app = FastAPI(
        title=title,
        version="1",
        summary=summary,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    # Types of files by their names: read from the system's lists, now and not at the first request.
    mimetypes.init()
    app.state.audit = entrance.audit
    for router in routers:
        app.include_router(router)
    app.add_api_route("/api/v1/openapi.json", _describe, methods=["GET"], include_in_schema=False)
    if page.exists():
        app.add_api_route("/", _Index(page), methods=["GET", "HEAD"], include_in_schema=False)
        app.mount("/static", StaticFiles(directory=page.parent / "static", check_dir=False))
    app.add_exception_handler(ServiceError, _service_error)
    app.add_exception_handler(RequestValidationError, _wrong_request)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(BodyTooLargeError, _too_large)
    app.add_exception_handler(Exception, _defect)
    app.add_middleware(
        Guard,
        tokens=entrance.tokens,
        authorities=entrance.authorities,
        origins=entrance.origins,
    )
    return app


def describe(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI description, with the token that every route needs."""
    schema = app.openapi()
    schema["info"]["version"] = f"1 ({gossamer.__version__})"
    schema.setdefault("components", {})["securitySchemes"] = {
        "token": {"type": "http", "scheme": "bearer"}
    }
    schema["security"] = [{"token": []}]
    return schema


async def _describe(request: Request) -> JSONResponse:
    return JSONResponse(describe(request.app))


class _Index:
    """The page. It holds no data: it asks the API with the user's token."""

    def __init__(self, file: Path) -> None:
        self._file = file

    async def __call__(self) -> Response:
        return FileResponse(self._file)


async def _service_error(_request: Request, error: Exception) -> Response:
    if not isinstance(error, ServiceError):
        raise error
    headers = {}
    if isinstance(error, UnreachableError) and error.again is not None:
        headers["retry_after"] = str(error.again)
    return problem(_STATUS.get(type(error), 500), error.code, error.detail, **headers)


async def _wrong_request(_request: Request, error: Exception) -> Response:
    if not isinstance(error, RequestValidationError):
        raise error
    faults = [
        f"{'.'.join(str(part) for part in fault['loc'][1:]) or 'request'}: {fault['msg']}"
        for fault in error.errors()[:10]
    ]
    return problem(422, "wrong_value", "; ".join(faults))


async def _http_error(_request: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):
        raise error
    answer = problem(error.status_code, _CODES.get(error.status_code, "refused"), error.detail)
    for name, value in (error.headers or {}).items():
        answer.headers[name] = value
    return answer


async def _too_large(_request: Request, _error: Exception) -> Response:
    return problem(413, "too_large", "the request is too large")


async def _defect(request: Request, error: Exception) -> Response:
    # Our own fault: told in our log, not to the client.
    _log.error("a request failed", method=request.method, path=request.url.path, exc_info=error)
    return problem(500, "defect", "the control node failed on this; its log says more")
