"""One process's line to the engine.

Takes: addresses, credentials, TLS. Gives: requests, answers, messages, buckets and the link stream.
Guarantees: the first connection works or says why not; after that the line is kept up for ever.
While it is down every call fails at once instead of being kept for later: a message that leaves
after its sender lost its lease would be worse than none.
"""

import asyncio
import contextlib
import ssl
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import nats
import nats.errors
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.js import JetStreamContext

from gossamer.engine.credentials import Credentials
from gossamer.engine.failures import explain, explained
from gossamer.engine.names import Names
from gossamer.engine.tasks import end
from gossamer.errors import (
    EngineAwayError,
    EngineError,
    EngineRefusedError,
    SettingsError,
    VersionError,
)

CONNECT_TIMEOUT = 3
ANSWER_TIMEOUT = 5.0
ELECTION = 30.0
"""Seconds that servers have to agree who leads among them."""
OLDEST_SERVER = (2, 11)
"""Older servers lose acknowledged messages with `sync_interval: always`, or do not know it."""

Handler = Callable[[bytes], Awaitable[bytes | None]]
"""None: no answer from us; somebody else may have one."""

Listener = Callable[[str, bytes], None]


@dataclass(frozen=True)
class Access:
    """Where the engine is, and as whom we come."""

    urls: list[str]
    credentials: Path | None = None
    tls_ca: Path | None = None
    tls_cert: Path | None = None
    tls_key: Path | None = None
    token: Path | None = None
    """A file, so that the token is in no list of processes."""

    @property
    def shown(self) -> str:
        """What we come with, for messages."""
        files = {"credentials": self.credentials, "token": self.token}
        named = [f"cluster.{name} {file}" for name, file in files.items() if file is not None]
        return f" with {' and '.join(named)}" if named else ""

    def context(self) -> ssl.SSLContext | None:
        """The TLS context, if TLS is asked for by a file or a `tls://` address."""
        asked = any(url.startswith("tls://") for url in self.urls)
        if not (asked or self.tls_ca or self.tls_cert):
            return None
        try:
            context = ssl.create_default_context(cafile=self.tls_ca)
            if self.tls_cert:
                context.load_cert_chain(self.tls_cert, self.tls_key)
        except (OSError, ssl.SSLError) as error:
            raise SettingsError(f"cannot use the TLS files for the engine: {error}") from error
        return context


class Engine:
    """An open line. Made by `connect`."""

    def __init__(self, names: Names, client: Client) -> None:
        self.names = names
        self._client = client
        self.stream: JetStreamContext = client.jetstream(timeout=ANSWER_TIMEOUT)
        self.connections = 1
        """Grows with each reconnection: what was under way before may be lost."""
        self._answering: set[asyncio.Task[None]] = set()
        self.denied = ""
        """The last refusal, which the server tells apart from the call that was refused."""

    @property
    def connected(self) -> bool:
        return self._client.is_connected

    async def close(self) -> None:
        with contextlib.suppress(nats.errors.Error, OSError):
            await self._client.close()
        # While the engine is away the client tries to reach it again, and closing may not end that: the
        # process would then not end either.
        trying = self._client._reconnection_task  # noqa: SLF001
        if trying is not None:
            await end([trying])

    async def publish(self, subject: str, payload: bytes) -> None:
        """To whoever listens now."""
        with explained(f"publish {subject}"):
            await self._client.publish(subject, payload)

    async def request(self, subject: str, payload: bytes, seconds: float = ANSWER_TIMEOUT) -> bytes:
        with explained(f"ask {subject}"):
            answer = await self._client.request(subject, payload, timeout=seconds)
            return bytes(answer.data)

    async def serve(self, subject: str, handler: Handler) -> Callable[[], Awaitable[None]]:
        """Answers requests until the function that is given back is called."""

        async def respond(message: Msg) -> None:
            answer = await handler(bytes(message.data))
            if message.reply and answer is not None:
                with contextlib.suppress(nats.errors.Error):
                    await message.respond(answer)

        async def begin(message: Msg) -> None:
            # A slow answer must not hold up the next question.
            task = asyncio.create_task(respond(message))
            self._answering.add(task)
            task.add_done_callback(self._answering.discard)

        with explained(f"listen to {subject}"):
            subscription = await self._client.subscribe(subject, cb=begin)
        return subscription.unsubscribe

    def inbox(self) -> str:
        """A subject of our own, for answers."""
        return self._client.new_inbox()

    async def ask(self, subject: str, payload: bytes, answer_to: str) -> None:
        """Publishes; the answer comes to a subject that is listened to."""
        await self._client.publish(subject, payload, reply=answer_to)

    async def collect(self, subject: str, taker: Callable[[Msg], None]) -> Subscription:
        """Calls with every message, as the client has it, until the subscription is ended."""

        async def note(message: Msg) -> None:
            taker(message)

        with explained(f"listen to {subject}"):
            return await self._client.subscribe(subject, cb=note)

    async def listen(self, subject: str, listener: Listener) -> Callable[[], Awaitable[None]]:
        """Calls with every message until the function that is given back is called."""

        async def note(message: Msg) -> None:
            listener(message.subject, bytes(message.data))

        with explained(f"listen to {subject}"):
            subscription = await self._client.subscribe(subject, cb=note)
        return subscription.unsubscribe


async def connect(access: Access, crawl: str, who: str) -> Engine:
    """Opens the line, or says which address refused and why."""
    names = Names(crawl)
    options = _options(access, who)
    await _reachable(access, options)
    engine: list[Engine] = []

    async def reconnected() -> None:
        for one in engine:
            one.connections += 1

    async def failed(error: Exception) -> None:
        if "permissions violation" in str(error).lower():
            for one in engine:
                one.denied = str(error).removeprefix("nats: ")

    with explained(f"connect to the engine at {_shown(access.urls)}"):
        client = await nats.connect(
            servers=access.urls,
            reconnected_cb=reconnected,
            error_cb=failed,
            max_reconnect_attempts=-1,
            **options,
        )
    opened = Engine(names, client)
    engine.append(opened)
    try:
        await _usable(opened, access)
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
        raise SettingsError("no engine is named: give --engine nats://HOST:PORT")
    reasons = []
    for url in access.urls:
        errors: list[Exception] = []

        async def failed(error: Exception, kept: list[Exception] = errors) -> None:
            kept.append(error)

        client = Client()
        try:
            await client.connect(
                servers=[url],
                allow_reconnect=False,
                max_reconnect_attempts=1,
                error_cb=failed,
                **options,  # type: ignore[arg-type]
            )
        except Exception as error:  # noqa: BLE001  whatever the client makes of a bad address
            reasons.append(f"{_shown([url])}: {_reason(errors[0] if errors else error)}")
            # The client leaves a line open that was refused.
            if client._transport is not None:  # noqa: SLF001
                client._transport.close()  # type: ignore[no-untyped-call]  # noqa: SLF001
            continue
        await client.close()
        return
    text = "; ".join(reasons)
    if "authorization" in text.lower() or "authentication" in text.lower():
        raise EngineRefusedError(f"the engine does not let us in{access.shown} ({text})")
    raise EngineAwayError(f"no engine answers ({text})")


def _reason(error: Exception) -> str:
    if isinstance(error, ConnectionRefusedError):
        return "connection refused; is nats-server running there?"
    return str(error).removeprefix("nats: ") or type(error).__name__


async def _usable(engine: Engine, access: Access) -> None:
    """JetStream is on, may be used by us, and is new enough."""
    where = f"the engine at {_shown(access.urls)}"
    version = engine._client.connected_server_version  # noqa: SLF001  same folder
    if (version.major, version.minor) < OLDEST_SERVER:
        wanted = ".".join(map(str, OLDEST_SERVER))
        raise VersionError(
            f"{where} is nats-server {version.major}.{version.minor}.{version.patch}; "
            f"at least {wanted} is needed"
        )
    end = time.monotonic() + ELECTION
    while True:
        try:
            await engine.stream.account_info()
        except Exception as error:
            if engine.denied:
                raise EngineRefusedError(f"{where}: {engine.denied}") from error
            reason = explain(where, error)
            # Servers that have just begun have no leader among them yet, and do not answer.
            if isinstance(reason, EngineAwayError) and time.monotonic() < end:
                continue
            if isinstance(reason, EngineError):
                raise EngineRefusedError(
                    f"{where} offers no JetStream to us: turn it on, or give this user the right "
                    f"to use $JS.API.> ({reason})"
                ) from error
            raise
        else:
            return


def _shown(urls: list[str]) -> str:
    """Addresses without the secrets that may stand in them."""
    shown = []
    for url in urls:
        scheme, found, rest = url.rpartition("://")
        shown.append(f"{scheme}{found}{rest.rpartition('@')[2]}")
    return ",".join(shown)
