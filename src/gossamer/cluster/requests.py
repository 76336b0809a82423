"""Questions between processes of a cluster: how they are asked, and how a failure is answered.

An answer carries the kind of its error, so the asker gets the error that the answerer had: wrong use
stays wrong use, and an engine that is away stays that. Guarantees: a question is asked again while
the engine, or whoever should answer, is away, until the asker's time is over; then the error says
what is away. A question that is asked again is carried out once by the control node that answers it.
"""

import asyncio
import getpass
import secrets
import socket
from collections.abc import Awaitable, Callable
from typing import Any, Final, ParamSpec, TypeVar

import msgspec

from gossamer.cluster.messages import Answer, Question, decode, encode
from gossamer.engine import Engine
from gossamer.errors import (
    ConflictError,
    DiskFullError,
    EngineAwayError,
    EngineEmptyError,
    EngineError,
    EngineFullError,
    EngineRefusedError,
    GossamerError,
    NoResponderError,
    SettingsError,
    SnapshotError,
    StateInUseError,
    UsageError,
    VersionError,
)

KINDS: Final[dict[str, type[GossamerError]]] = {
    "usage": UsageError,
    "settings": SettingsError,
    "version": VersionError,
    "state_in_use": StateInUseError,
    "disk_full": DiskFullError,
    "snapshot": SnapshotError,
    "conflict": ConflictError,
    "engine_away": EngineAwayError,
    "engine_empty": EngineEmptyError,
    "engine_full": EngineFullError,
    "engine_refused": EngineRefusedError,
    "engine": EngineError,
    "failed": GossamerError,
}
"""Names of errors in answers. A name once given keeps its meaning; an unknown one is `failed`."""

TEMPORARY: Final = (EngineAwayError, EngineEmptyError)
"""What passes by itself: a server is changing, or a stream has no leader at this moment."""

AGAIN_AFTER = 0.25
ONE_TRY = 5.0
"""Seconds after which a command that nobody has answered is sent again: nobody may have led then."""

NOBODY = 10.0
"""Seconds that a command waits where no control node is connected at all: one may be restarted."""

AS_DESCRIBED: Final = (
    "give it as the documents say; of processes: install the same version everywhere"
)

T = TypeVar("T")
P = ParamSpec("P")


def kind_of(error: Exception) -> str:
    """The name of an error's kind: its own, or that of the nearest class that has one."""
    names = {kind: name for name, kind in KINDS.items()}
    for kind in type(error).__mro__:
        if kind in names:
            return names[kind]
    # One of our own defects, whatever its class. Wrong use is raised as `UsageError` where it is found.
    return "failed"


def read_body(raw: msgspec.Raw, kind: type[T]) -> T:
    """What was sent with a question; without a body, all its defaults. `UsageError`: it does not fit."""
    data = bytes(raw)
    try:
        return msgspec.json.decode(b"{}" if data == b"null" else data, type=kind)
    except msgspec.MsgspecError as error:
        raise UsageError(f"what is asked cannot be read: {error}", do=AS_DESCRIBED) from error


async def checked(call: Callable[P, T], *given: P.args, **more: P.kwargs) -> T:
    """A native call, in a thread, with what an asker gave; a value that it refuses is a `UsageError`."""
    try:
        return await asyncio.to_thread(call, *given, **more)
    except ValueError as error:
        raise UsageError(str(error), do="mend what is asked for, and ask again") from error


def failure(error: Exception) -> Answer:
    """The answer that there is none, and why."""
    return Answer(error=str(error) or type(error).__name__, kind=kind_of(error))


def result_of(answer: Answer, who: str = "") -> Any:
    """The body of an answer; an error is raised as the kind that it was. `who`: put before it."""
    if answer.error:
        text = f"{who}: {answer.error}" if who else answer.error
        raise KINDS.get(answer.kind, GossamerError)(text)
    return msgspec.json.decode(bytes(answer.body))


async def persist(action: Callable[[], Awaitable[T]], seconds: float) -> T:
    """Does it again while the engine is away, until the time is over; then raises the last error.

    Only for what may be done twice.
    """
    now = asyncio.get_running_loop().time
    end = now() + seconds
    while True:
        try:
            return await action()
        except TEMPORARY:
            if now() + AGAIN_AFTER >= end:
                raise
        await asyncio.sleep(AGAIN_AFTER)


async def ask_node(
    engine: Engine, node: str, name: str, body: object = None, seconds: float = 10.0
) -> Any:
    """A question of the closed list in `cluster.questions` to one node."""
    question = Question(name=name, body=msgspec.Raw(msgspec.json.encode(body)))
    try:
        data = await engine.request(engine.names.node(node), encode(question), seconds)
    except EngineAwayError as error:
        raise type(error)(f"node {node} does not answer: {error}") from error
    return result_of(decode(data, Answer, f"node {node}"), node)


async def ask_control(
    engine: Engine,
    name: str,
    body: object = None,
    seconds: float = 15.0,
    *,
    who: str = "",
    audited: bool = False,
) -> Any:
    """A command to whoever leads. `audited`: the account of it is kept by the asker."""
    question = Question(
        name=name,
        body=msgspec.Raw(msgspec.json.encode(body)),
        who=who,
        audited=audited,
        id=secrets.token_hex(12),
    )
    now = asyncio.get_running_loop().time
    begun = now()
    end = begun + seconds

    async def once() -> Any:
        left = max(0.05, end - now())
        try:
            data = await engine.request(engine.names.control, encode(question), min(ONE_TRY, left))
        except EngineAwayError as error:
            away = f"no control node answers: {error}"
            if isinstance(error, NoResponderError) and now() - begun >= NOBODY:
                # There is none, not even one that stands by: no election brings one.
                raise GossamerError(
                    away, do="start one (`gossamer control`), and try again"
                ) from error
            raise type(error)(away) from error
        return result_of(decode(data, Answer, "the control node"))

    return await persist(once, seconds)


def operator() -> str:
    """Who runs this command, for the audit log."""
    return f"{getpass.getuser()}@{socket.gethostname()}"
