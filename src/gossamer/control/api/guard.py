"""The guard: what every request must pass before any route is looked for.

In this order, and the order matters (headers of safety are the server's, on every answer it gives):

1. `Host` and `Origin` must be ours, on every method and path: a page of another site must not steer
   a crawler through its user's browser, nor through a name that it rebinds to our address. Only the
   page itself, which holds no data, may be opened by a link of the same site: that is how the page
   of a folder leads to a crawl's dashboard at another port. For a browser the same site is every
   host and port under one registrable domain, so others may lead there too.
2. The dashboard's shell (`/` and `/static/`) holds no data and needs no token; everything else does.
   A wrong token is counted against the client's address, and answered 429 past a bound. A good one
   always passes: a forgotten tab with an old token must not lock its owner out, and tokens of 256
   random bits cannot be guessed at any rate.
3. Whatever is no look (GET, HEAD) needs the role `operate`.
4. Bodies are bounded, whatever `Content-Length` says.
"""

import time
from collections import OrderedDict
from collections.abc import Iterable
from typing import Final

from fastapi.exceptions import HTTPException
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gossamer.control.schemas import Access, Problem, Role
from gossamer.control.tokens import Tokens

MAX_BODY: Final = 2 * 1024 * 1024
FAILURES: Final = 10
"""Wrong tokens in a row that an address may present."""
FORGIVEN_EVERY: Final = 6.0
"""Seconds after which one more is allowed."""
_ADDRESSES: Final = 4096
_LOOKS: Final = {"GET", "HEAD"}


class Failures:
    """Wrong tokens by address: a bucket for each that fills with time. Bounded in number."""

    def __init__(self) -> None:
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def count(self, address: str) -> float:
        """Notes one more; gives the seconds to wait, 0 while there are few."""
        now = time.monotonic()
        left, since = self._left.pop(address, (float(FAILURES), now))
        left = min(float(FAILURES), left + (now - since) / FORGIVEN_EVERY)
        wait = 0.0 if left >= 1.0 else (1.0 - left) * FORGIVEN_EVERY
        self._left[address] = (left - 1.0 if left >= 1.0 else left, now)
        while len(self._left) > _ADDRESSES:
            self._left.popitem(last=False)
        return wait


class Guard:
    """The outermost layer of the application."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        tokens: Tokens,
        authorities: Iterable[str],
        origins: Iterable[str],
    ) -> None:
        self._app = app
        self._tokens = tokens
        self._authorities = {authority.lower() for authority in authorities}
        self._origins = {origin.lower() for origin in origins}
        self._failures = Failures()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            # No web sockets here; the server refuses them too.
            return
        headers = Headers(scope=scope)
        refusal = self._foreign(scope, headers) or self._refuse_token(scope, headers)
        if refusal is None and int(headers.get("content-length", "0") or "0") > MAX_BODY:
            refusal = _refused(413, "too_large", f"a request may have {MAX_BODY} bytes")
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        await self._app(scope, _bounded(receive), send)

    def _foreign(self, scope: Scope, headers: Headers) -> Response | None:
        hosts = headers.getlist("host")
        if len(hosts) != 1 or hosts[0].lower() not in self._authorities:
            return _refused(
                403, "foreign_host", "not a name of this control node; see control.names"
            )
        origins = headers.getlist("origin")
        if any(origin.lower() not in self._origins for origin in origins):
            return _refused(403, "foreign_origin", "asked by a page of another site")
        own = headers.get("sec-fetch-site", "none") in {"none", "same-origin"}
        if not own and not _is_link(scope, headers):
            return _refused(403, "foreign_origin", "asked by a page of another site")
        return None

    def _refuse_token(self, scope: Scope, headers: Headers) -> Response | None:
        scope.setdefault("state", {})
        if is_shell(scope["path"]):
            # Without data, so without a token; what is there can only be read.
            if scope["method"] in _LOOKS:
                return None
            return _refused(405, "wrong_method", "this can only be read", allow="GET, HEAD")
        fields = headers.getlist("authorization")
        if not fields:
            return _refused(401, "no_token", "every route needs Authorization: Bearer TOKEN")
        access = self._access(fields)
        if access is None:
            client = scope.get("client") or ("unknown", 0)
            wait = self._failures.count(str(client[0]))
            if wait > 0:
                seconds = str(int(wait) + 1)
                return _refused(429, "too_many_failures", "wrong tokens; wait", retry_after=seconds)
            return _refused(401, "wrong_token", "this token is not known here")
        if access.role is not Role.OPERATE and scope["method"] not in _LOOKS:
            return _refused(403, "read_only", "this token may look; changes need the other one")
        scope["state"]["access"] = access
        return None

    def _access(self, fields: list[str]) -> Access | None:
        kind, _, token = fields[0].partition(" ")
        if len(fields) > 1 or kind.lower() != "bearer" or not token.strip():
            return None
        return self._tokens.access(token.strip())


def _is_link(scope: Scope, headers: Headers) -> bool:
    """Whether somebody followed a link of the same site (any host and port under its domain) to the page, in a tab."""
    wanted = {
        "sec-fetch-site": "same-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document",
    }  # fmt: skip
    asked = scope["path"] == "/" and scope["method"] in _LOOKS
    return asked and all(headers.getlist(name) == [value] for name, value in wanted.items())


def is_shell(path: str) -> bool:
    """Whether a path is of the dashboard's files, which hold no data."""
    return path in {"/", "/favicon.ico"} or path.startswith("/static/")


def problem(status: int, code: str, detail: str, **headers: str) -> Response:
    """A refusal as every client sees it."""
    return _refused(status, code, detail, **headers)


def _refused(status: int, code: str, detail: str, **headers: str) -> Response:
    answer = Response(
        Problem(code=code, detail=detail).model_dump_json(),
        status_code=status,
        media_type="application/json",
    )
    if status == 401:
        answer.headers["WWW-Authenticate"] = "Bearer"
    for name, value in headers.items():
        answer.headers[name.replace("_", "-")] = value
    return answer


class BodyTooLargeError(HTTPException):
    """More came than was announced, or than is allowed.

    Of this kind, so that whoever reads the body for a route lets it pass.
    """

    def __init__(self) -> None:
        super().__init__(413, "the request is too large")


def _bounded(receive: Receive) -> Receive:
    received = 0

    async def wrapped() -> Message:
        nonlocal received
        message = await receive()
        if message["type"] == "http.request":
            received += len(message.get("body", b""))
            if received > MAX_BODY:
                raise BodyTooLargeError
        return message

    return wrapped
