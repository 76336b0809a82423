"""Commands to the leading control node through the engine: a closed list, each with its schema.

Every control node listens; only the one that leads answers, so an asker needs no address of it.
"""

import getpass
import socket
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from gossamer.cluster.messages import Answer, Question, decode, encode
from gossamer.control.api.audit import AuditLog
from gossamer.control.overseer import Overseer
from gossamer.engine import Engine
from gossamer.errors import EngineAwayError, GossamerError, UsageError
from gossamer.settings.load import check, put

LOOKS = {
    "why", "visits", "aliases", "status", "host", "hosts", "last_visits", "partition_sizes",
}  # fmt: skip
"""Questions to a node that change nothing."""


class Nothing(msgspec.Struct, forbid_unknown_fields=True):
    pass


class Urls(msgspec.Struct, forbid_unknown_fields=True):
    urls: list[str]


class Changes(msgspec.Struct, forbid_unknown_fields=True):
    """Settings by dotted name."""

    values: dict[str, Any]


class Since(msgspec.Struct, forbid_unknown_fields=True):
    since: float


class Node(msgspec.Struct, forbid_unknown_fields=True):
    node: str


class Moves(msgspec.Struct, forbid_unknown_fields=True):
    partitions: list[int]
    node: str


class Asked(msgspec.Struct, forbid_unknown_fields=True):
    node: str
    name: str
    body: msgspec.Raw = msgspec.Raw(b"null")


class Answers:
    """Every command that changes something leaves a line in the audit log, unless its asker does."""

    def __init__(self, overseer: Overseer, audit: AuditLog) -> None:
        self._overseer = overseer
        self._audit = audit
        self.names: dict[str, tuple[type[Any], Callable[[Any], Awaitable[Any]]]] = {
            "status": (Nothing, self._status),
            "pause": (Nothing, lambda _body: overseer.pause()),
            "resume": (Nothing, lambda _body: overseer.resume()),
            "stop": (Nothing, lambda _body: overseer.stop()),
            "checkpoint": (Nothing, lambda _body: overseer.checkpoint()),
            "rerank": (Nothing, lambda _body: overseer.rerank()),
            "seeds": (Urls, lambda body: overseer.add_seeds(body.urls)),
            "settings": (Changes, self._settings),
            "resend": (Since, lambda body: overseer.resend(body.since)),
            "remove": (Node, lambda body: overseer.remove_node(body.node)),
            "keep": (Node, lambda body: overseer.keep_node(body.node)),
            "move": (Moves, lambda body: overseer.move(body.partitions, body.node)),
            "ask": (Asked, self._ask),
        }

    async def serve(self, engine: Engine) -> None:
        await engine.serve(engine.names.control, self.answer)

    async def answer(self, data: bytes) -> bytes | None:
        if not self._overseer.leading:
            return None
        try:
            question = decode(data, Question, "the asker")
            known = self.names.get(question.name)
            if known is None:
                return encode(Answer(error=f"unknown command {question.name!r}"))
            shape, method = known
            raw = bytes(question.body)
            body = shape() if raw == b"null" else msgspec.json.decode(raw, type=shape)
            if question.audited or _looks(question.name, body):
                result = await method(body)
            else:
                result = await self._accounted(question, method, body)
        except (GossamerError, msgspec.MsgspecError, TypeError) as error:
            return encode(Answer(error=str(error) or type(error).__name__))
        return encode(Answer(body=msgspec.Raw(msgspec.json.encode(result))))

    async def _accounted(
        self, question: Question, method: Callable[[Any], Awaitable[Any]], body: Any
    ) -> Any:
        who = f"engine:{question.who[:200] or 'unknown'}"
        new = msgspec.to_builtins(body)
        if isinstance(body, Urls):
            new = {"count": len(body.urls), "first": [url[:200] for url in body.urls[:10]]}
        elif isinstance(body, Asked):
            new = {"name": body.name, "body": msgspec.json.decode(bytes(body.body))}
        target = getattr(body, "node", None)
        async with self._audit.change(who, question.name, target, new=new):
            return await method(body)

    async def _status(self, _body: Nothing) -> Any:
        return self._overseer.summary()

    async def _settings(self, body: Changes) -> int:
        values = self._overseer.settings().model_dump(mode="json", exclude_none=True)
        for name, value in body.values.items():
            put(values, name, value)
        return await self._overseer.set_settings(check(values, "settings"))

    async def _ask(self, body: Asked) -> Any:
        value = msgspec.json.decode(bytes(body.body))
        return await self._overseer.ask_node(body.node, body.name, value)


def _looks(name: str, body: Any) -> bool:
    """Whether a command changes nothing."""
    return name == "status" or (isinstance(body, Asked) and body.name in LOOKS)


def operator() -> str:
    """Who runs this command, for the audit log."""
    return f"{getpass.getuser()}@{socket.gethostname()}"


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
    raw = msgspec.Raw(msgspec.json.encode(body))
    question = Question(name=name, body=raw, who=who, audited=audited)
    try:
        data = await engine.request(engine.names.control, encode(question), seconds)
    except EngineAwayError as error:
        raise EngineAwayError(f"no control node answers: {error}") from error
    answer = decode(data, Answer, "the control node")
    if answer.error:
        raise UsageError(answer.error)
    return msgspec.json.decode(bytes(answer.body))
