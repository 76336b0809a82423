"""Commands to the leading control node through the engine: a closed list, each with its schema.

Every control node listens; only the one that leads answers, so an asker needs no address of it.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from gossamer.cluster.messages import Answer, Question, decode, encode
from gossamer.cluster.requests import AS_DESCRIBED, TEMPORARY, failure, read_body
from gossamer.control.audit_log import AuditLog
from gossamer.control.leader.control_node import ControlNode
from gossamer.control.setting_history import planned
from gossamer.engine import Engine
from gossamer.errors import ConflictError, SettingsError, UsageError, VersionError
from gossamer.policy.chosen import check_change

LOOKS = {
    "why", "visits", "aliases", "status", "host", "hosts", "patterns", "last_visits", "partition_sizes",
    "log", "stored", "host_detail",
}  # fmt: skip
"""Questions to a node that change nothing."""

REMEMBERED = 256
"""Commands whose answer is kept for those who ask again."""


class Nothing(msgspec.Struct, forbid_unknown_fields=True):
    pass


class Urls(msgspec.Struct, forbid_unknown_fields=True):
    urls: list[str]


class Redirected(msgspec.Struct, forbid_unknown_fields=True):
    """Targets of seeds' redirects, found by a node, with the redirects that led to each."""

    seeds: list[tuple[str, int]]


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


class Forwarded(msgspec.Struct, forbid_unknown_fields=True):
    node: str
    name: str
    body: msgspec.Raw = msgspec.Raw(b"null")


Handler = Callable[[Any, str], Awaitable[Any]]
"""Called with the body of a command and who gave it."""


class CommandRequests:
    """Every command that changes something leaves a line in the audit log, unless its asker does."""

    def __init__(self, node: ControlNode, audit: AuditLog) -> None:
        self._node = node
        self._audit = audit
        self._begun: dict[str, asyncio.Future[bytes]] = {}
        commands = node.commands
        self.names: dict[str, tuple[type[Any], Handler]] = {
            "status": (Nothing, self._status),
            "pause": (Nothing, lambda _body, _who: commands.pause()),
            "resume": (Nothing, lambda _body, _who: commands.resume()),
            "stop": (Nothing, lambda _body, _who: commands.stop()),
            "checkpoint": (Nothing, lambda _body, _who: commands.checkpoint()),
            "rerank": (Nothing, lambda _body, _who: commands.rerank()),
            "seeds": (Urls, lambda body, _who: commands.add_seeds(body.urls)),
            "redirected": (Redirected, lambda body, _who: commands.add_redirected(body.seeds)),
            "settings": (Changes, self._settings),
            "resend": (Since, lambda body, _who: commands.resend(body.since)),
            "remove": (Node, lambda body, _who: commands.remove_node(body.node)),
            "keep": (Node, lambda body, _who: commands.keep_node(body.node)),
            "move": (Moves, lambda body, _who: commands.move(body.partitions, body.node)),
            "ask": (Forwarded, self._ask),
        }

    async def serve(self, engine: Engine) -> None:
        await engine.serve(engine.names.control, self.answer)

    async def answer(self, data: bytes) -> bytes | None:
        if not self._node.leading:
            return None
        try:
            question = decode(data, Question, "the asker")
        except UsageError as error:
            return encode(failure(error))
        begun = self._begun.get(question.id) if question.id else None
        if begun is None:
            begun = asyncio.ensure_future(self._carry_out(question))
            if question.id:
                self._remember(question.id, begun)
        # Whoever asked may be gone; what was begun is ended.
        return await asyncio.shield(begun)

    def _remember(self, key: str, begun: asyncio.Future[bytes]) -> None:
        self._begun[key] = begun
        while len(self._begun) > REMEMBERED:
            del self._begun[next(iter(self._begun))]

    async def _carry_out(self, question: Question) -> bytes:
        try:
            result = await self._do(question)
            return encode(Answer(body=msgspec.Raw(msgspec.json.encode(result))))
        except Exception as error:  # noqa: BLE001  whoever asks must not wait in vain
            if isinstance(error, TEMPORARY):
                # Forwarded again, it is tried again.
                self._begun.pop(question.id, None)
            return encode(failure(error))

    async def _do(self, question: Question) -> Any:
        known = self.names.get(question.name)
        if known is None:
            raise VersionError(f"unknown command {question.name!r}")
        shape, method = known
        body = read_body(question.body, shape)
        if question.audited or _looks(question.name, body):
            return await method(body, question.who)
        return await self._accounted(question, method, body)

    async def _accounted(self, question: Question, method: Handler, body: Any) -> Any:
        who = _asker(question.who)
        new = msgspec.to_builtins(body)
        if isinstance(body, Urls):
            new = {"count": len(body.urls), "first": [url[:200] for url in body.urls[:10]]}
        elif isinstance(body, Redirected):
            new = {"count": len(body.seeds), "first": [url[:200] for url, _ in body.seeds[:10]]}
        elif isinstance(body, Forwarded):
            new = {"name": body.name, "body": _forwarded(body)}
        target = getattr(body, "node", None)
        async with self._audit.change(who, question.name, target, new=new):
            return await method(body, question.who)

    async def _status(self, _body: Nothing, _who: str) -> Any:
        return self._node.overview.summary()

    async def _settings(self, body: Changes, who: str) -> int:
        """The same checks as through the API: only live settings, native ones too; and an account."""
        live = self._node.settings
        while True:
            await live.refresh()
            before = live.change
            after, change = planned(live.current, body.values, before + 1, _asker(who))
            await asyncio.to_thread(check_change, live.current, after)
            try:
                await asyncio.to_thread(self._node.coder.check, after)
            except ValueError as error:
                raise SettingsError(str(error)) from error
            try:
                return await live.set(after, before, change.model_dump_json())
            except ConflictError:
                # Somebody else was first: the change is made of what the settings are by now.
                continue

    async def _ask(self, body: Forwarded, _who: str) -> Any:
        return await self._node.requests.ask(body.node, body.name, _forwarded(body))


def _forwarded(body: Forwarded) -> Any:
    """As it was sent: the node knows what it must be."""
    try:
        return msgspec.json.decode(bytes(body.body))
    except msgspec.MsgspecError as error:
        raise UsageError(f"what is asked cannot be read: {error}", do=AS_DESCRIBED) from error


def _asker(who: str) -> str:
    """Who gave a command through the engine, as the logs name it."""
    return f"engine:{who[:200] or 'unknown'}"


def _looks(name: str, body: Any) -> bool:
    """Whether a command changes nothing."""
    return name == "status" or (isinstance(body, Forwarded) and body.name in LOOKS)
