"""The server: one socket, loopback by default, TLS by setting; who looks finds `url`, `pid`, `tokens`.

Guarantees: the headers of safety are on every answer, also on those that no route and no guard gave:
a failure of ours, a request that is no HTTP, too many connections.
"""

import asyncio
import contextlib
import errno
import ipaddress
import os
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import uvicorn
from fastapi import FastAPI

from gossamer.control.api.app import Entrance, make_app
from gossamer.control.api.connections import Connection
from gossamer.control.api.origins import names_of
from gossamer.control.api.safety import SAFETY
from gossamer.control.api.tls import make_context
from gossamer.control.audit_log import AuditLog
from gossamer.control.service import Service
from gossamer.control.tokens import ELSEWHERE, ensure_tokens
from gossamer.disk import write_whole
from gossamer.errors import GossamerError, SettingsError
from gossamer.settings.model import ControlSettings


class _Server(uvicorn.Server):
    """Signals belong to the command, not to the server; and it says when it has begun."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class Serving:
    """Where the API is reached."""

    def __init__(self, url: str, *, plain: bool) -> None:
        self.url = url
        self.plain = plain
        """Reached from other machines, and without TLS."""


class PortTakenError(GossamerError):
    """Somebody else listens there now."""


def listen(settings: ControlSettings, option: str = "control.port") -> socket.socket:
    """The socket, or an error that names address and port, and what to choose another with."""
    family = socket.AF_INET6 if ":" in settings.address else socket.AF_INET
    # The protocol is named: only then asyncio sends small answers without delay.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((settings.address, settings.port))
        listener.listen(128)
    except OSError as error:
        listener.close()
        what = f"the control API cannot listen on {settings.address} port {settings.port}"
        if error.errno == errno.EADDRINUSE:
            raise PortTakenError(
                f"{what}: {error.strerror}", do=f"choose another port with {option}"
            ) from error
        raise SettingsError(
            f"{what}: {error.strerror}; see control.address and {option}"
        ) from error
    return listener


def check(settings: ControlSettings) -> None:
    """Raises what would keep the API from being served, unless it is only that the port is taken."""
    make_context(settings)
    with contextlib.suppress(PortTakenError):
        listen(settings).close()


@contextlib.asynccontextmanager
async def serve(
    service: Service,
    settings: ControlSettings,
    directory: Path,
    listener: socket.socket | None = None,
    audit: AuditLog | None = None,
) -> AsyncIterator[Serving]:
    """Serves the API of a crawl until the block ends.

    With a socket and an audit log that were opened before, or with its own.
    """

    def make(entrance: Entrance) -> FastAPI:
        return make_app(service, **entrance._asdict())

    async with serve_app(make, settings, directory, listener, audit) as serving:
        yield serving


@contextlib.asynccontextmanager
async def serve_app(
    make: Callable[[Entrance], FastAPI],
    settings: ControlSettings,
    directory: Path,
    listener: socket.socket | None = None,
    audit: AuditLog | None = None,
) -> AsyncIterator[Serving]:
    """The same of any application. `directory`: where address, process number and tokens are."""
    context = await asyncio.to_thread(make_context, settings)
    place = Path(settings.tokens) if settings.tokens else directory
    shared = settings.tokens is not None
    tokens = await asyncio.to_thread(ensure_tokens, place, shared=shared)
    if audit is None:
        audit = AuditLog(directory / "audit.jsonl")
        await audit.open()
    listener = listener or listen(settings)
    port = int(listener.getsockname()[1])
    names = names_of(settings, port)
    app = make(Entrance(tokens, audit, names.authorities, names.origins))
    server = _Server(_config(app, context))
    task = asyncio.create_task(server.serve(sockets=[listener]))
    started = asyncio.create_task(server.ready.wait())
    await asyncio.wait({task, started}, return_when=asyncio.FIRST_COMPLETED)
    if task.done():
        started.cancel()
        await task
        raise GossamerError(
            "the control API did not start", do="see why in the log, with --log-level debug"
        )
    remote = not ipaddress.ip_address(settings.address).is_loopback
    serving = Serving(names.url, plain=remote and context is None)
    await asyncio.to_thread(_publish, directory, place, serving.url)
    try:
        yield serving
    finally:
        server.should_exit = True
        await task
        await asyncio.to_thread(_withdraw, directory)


def _config(app: FastAPI, context: ssl.SSLContext | None) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=Connection,
        # Its lines go where all of the log goes.
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
        headers=list(SAFETY.items()),
        proxy_headers=False,
        lifespan="off",
        ws="none",
        timeout_keep_alive=15,
        timeout_graceful_shutdown=2,
        ssl_context_factory=(lambda _config, _default: context) if context else None,
    )


def _withdraw(directory: Path) -> None:
    for name in ("url", "pid", ELSEWHERE):
        (directory / name).unlink(missing_ok=True)


def _publish(directory: Path, tokens: Path, url: str) -> None:
    # The URL last: who sees it finds the rest too. One that a killed process left would belie that.
    (directory / "url").unlink(missing_ok=True)
    for name, text in ((ELSEWHERE, tokens.absolute()), ("pid", os.getpid()), ("url", url)):
        write_whole(directory / name, f"{text}\n".encode())
