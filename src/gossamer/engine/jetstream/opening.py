"""Opening a line to NATS: it works, or the error says which address refused and why, within a bounded time."""

import asyncio
import contextlib

import nats
from nats.aio.client import Client

from gossamer.clock import SYSTEM, Clock
from gossamer.engine.jetstream.access import Access, without_secret
from gossamer.engine.jetstream.connection import JetStreamEngine
from gossamer.engine.jetstream.credentials import Credentials
from gossamer.engine.jetstream.failures import explain, explained, is_off
from gossamer.engine.jetstream.internals import drop_line
from gossamer.engine.names import Names
from gossamer.errors import (
    EngineAwayError,
    EngineRefusedError,
    SettingsError,
    VersionError,
)

CONNECT_TIMEOUT = 3
"""Seconds for each step of a connection: the line, the server's first word, TLS, its answer to ours."""
OPEN_TIMEOUT = 5 * CONNECT_TIMEOUT
"""Seconds for all of them, whatever a server does."""
ELECTION = 30.0
"""Seconds that servers have to agree who leads among them."""
OLDEST_SERVER = (2, 11)
"""Older servers lose acknowledged messages with `sync_interval: always`, or do not know it."""


async def connect(
    access: Access, crawl: str, who: str, *, clock: Clock = SYSTEM
) -> JetStreamEngine:
    """Opens the line, or says which address refused and why."""
    names = Names(crawl)
    options = await asyncio.to_thread(_options, access, who)
    await _reachable(access, options)
    engine: list[JetStreamEngine] = []

    async def reconnected() -> None:
        for one in engine:
            one.connections += 1

    async def failed(error: Exception) -> None:
        if "permissions violation" in str(error).lower():
            for one in engine:
                one.denied = str(error).removeprefix("nats: ")

    with explained(f"connect to the engine at {access.places}"):
        # The client itself would try for ever.
        async with asyncio.timeout(ELECTION):
            client = await nats.connect(
                servers=access.urls,
                reconnected_cb=reconnected,
                error_cb=failed,
                max_reconnect_attempts=-1,
                **options,
            )
    opened = JetStreamEngine(names, client, clock)
    engine.append(opened)
    try:
        await _usable(opened, access, clock)
    except BaseException:
        await opened.close()
        raise
    return opened


def _options(access: Access, who: str) -> dict[str, object]:
    options: dict[str, object] = {
        "name": who,
        "connect_timeout": CONNECT_TIMEOUT,
        "reconnect_time_wait": 0.25,
        # A server that is gone without a word is noticed before a lease ends.
        "ping_interval": 2,
        "max_outstanding_pings": 2,
        "pending_size": 0,
        "tls": access.context(),
    }
    if access.credentials is not None:
        options["user_credentials"] = Credentials(access.credentials)
    if access.token is not None:
        try:
            options["token"] = access.token.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise SettingsError(f"cluster.token: cannot read {access.token}: {error}") from error
    return options


async def _reachable(access: Access, options: dict[str, object]) -> None:
    """At least one address answers and lets us in; otherwise each is named with its reason."""
    if not access.urls:
        raise SettingsError("no engine is named", do="give --engine nats://HOST:PORT")
    reasons = []
    for url in access.urls:
        reason = await _refusal(url, options)
        if reason is None:
            return
        reasons.append(f"{without_secret(url)}: {reason}")
    text = "; ".join(reasons)
    if "authorization" in text.lower() or "authentication" in text.lower():
        raise EngineRefusedError(f"the engine does not let us in{access.shown} ({text})")
    raise EngineAwayError(f"no engine answers ({text})")


async def _refusal(url: str, options: dict[str, object]) -> str | None:
    """Why this address cannot be used; None: it can."""
    errors: list[Exception] = []

    async def failed(error: Exception) -> None:
        errors.append(error)

    client = Client()
    try:
        async with asyncio.timeout(OPEN_TIMEOUT):
            await client.connect(
                servers=[url],
                allow_reconnect=False,
                max_reconnect_attempts=1,
                error_cb=failed,
                **options,  # type: ignore[arg-type]
            )
    except Exception as error:  # noqa: BLE001  whatever the client makes of a bad address
        drop_line(client)
        return _reason(errors[0] if errors else error)
    with contextlib.suppress(Exception):
        await client.close()
    return None


def _reason(error: Exception) -> str:
    if isinstance(error, ConnectionRefusedError):
        return "connection refused; is nats-server running there?"
    if isinstance(error, TimeoutError):
        return "no answer in time"
    return str(error).removeprefix("nats: ") or type(error).__name__


async def _usable(engine: JetStreamEngine, access: Access, clock: Clock) -> None:
    """JetStream is on, may be used by us, and is new enough."""
    where = f"the engine at {access.places}"
    version = engine.server_version
    if version[:2] < OLDEST_SERVER:
        wanted = ".".join(map(str, OLDEST_SERVER))
        found = ".".join(map(str, version))
        raise VersionError(f"{where} is nats-server {found}; at least {wanted} is needed")
    end = clock.monotonic() + ELECTION
    while True:
        try:
            await engine.stream.account_info()
        except Exception as error:
            if engine.denied:
                raise EngineRefusedError(f"{where}: {engine.denied}") from error
            reason = explain(where, error)
            # Servers that have just begun have no leader among them yet, and do not answer.
            if isinstance(reason, EngineAwayError) and clock.monotonic() < end:
                continue
            if isinstance(reason, EngineAwayError) and not is_off(error):
                raise EngineAwayError(
                    f"{where} has no leader: more than half of its servers must run and reach each "
                    f"other ({reason})"
                ) from error
            raise EngineRefusedError(
                f"{where} offers no JetStream to us: turn it on, or give this user the right "
                f"to use $JS.API.> ({reason})"
            ) from error
        else:
            return
