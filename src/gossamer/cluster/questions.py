"""Questions that a node answers: a closed list, each with its own schema."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec

from gossamer._native import Node, StateFullError
from gossamer.cluster.host_questions import HostQuestions
from gossamer.cluster.keeper import Keeper
from gossamer.cluster.messages import Answer, NodeStatus, Question, decode, encode
from gossamer.cluster.requests import checked, failure, read_body
from gossamer.errors import DiskFullError, VersionError
from gossamer.library.log_search import Found, Place, Wanted, search_log
from gossamer.library.stored_text import StoredText, stored_text, warc_name


class WhyBody(msgspec.Struct, forbid_unknown_fields=True):
    url: str


class SinceBody(msgspec.Struct, forbid_unknown_fields=True):
    since_us: int


class HostBody(msgspec.Struct, forbid_unknown_fields=True):
    host: str


class LogBody(msgspec.Struct, forbid_unknown_fields=True):
    wanted: Wanted
    before: Place | None = None
    most: int = 50


class StoredBody(msgspec.Struct, forbid_unknown_fields=True):
    """The record of a URL: number of the WARC file, and the byte."""

    url: str
    serial: int
    offset: int


class Nothing(msgspec.Struct, forbid_unknown_fields=True):
    pass


class Questions:
    def __init__(
        self,
        node: Node,
        keeper: Keeper,
        *,
        stop: Callable[..., None],
        status: Callable[[], NodeStatus],
        visits: Callable[[str], list[dict[str, object]]],
        directory: Path,
    ) -> None:
        self._node = node
        self._keeper = keeper
        self._stop = stop
        self._status = status
        self._visits = visits
        self._directory = directory
        self.names: dict[str, tuple[type[Any], Callable[[Any], Awaitable[Any]]]] = {
            "why": (WhyBody, self._why),
            "visits": (WhyBody, self._last_visits),
            "log": (LogBody, self._log),
            "stored": (StoredBody, self._stored),
            "aliases": (Nothing, self._aliases),
            "undo_alias": (HostBody, self._undo_alias),
            "resend": (SinceBody, self._resend),
            "snapshot": (Nothing, self._snapshot),
            "rerank": (Nothing, self._rerank),
            "status": (Nothing, self._tell_status),
            "shutdown": (Nothing, self._shutdown),
            **HostQuestions(node).names,
        }

    async def answer(self, data: bytes) -> bytes:
        try:
            result = await self._result(decode(data, Question, "the asker"))
            return encode(Answer(body=msgspec.Raw(msgspec.json.encode(result))))
        except StateFullError as error:
            return encode(failure(DiskFullError(str(error))))
        except Exception as error:  # noqa: BLE001  whoever asks must not wait in vain
            return encode(failure(error))

    async def _result(self, question: Question) -> Any:
        known = self.names.get(question.name)
        if known is None:
            raise VersionError(f"a node does not know the question {question.name!r}")
        body, method = known
        return await method(read_body(question.body, body))

    async def _why(self, body: WhyBody) -> Any:
        account = msgspec.json.decode(await checked(self._node.why, body.url))
        last = account.get("last_visit")
        if last is not None and last["warc_file"] is not None:
            last["warc_name"] = await asyncio.to_thread(
                warc_name, self._directory, last["warc_file"]
            )
        return account

    async def _log(self, body: LogBody) -> Found:
        return await asyncio.to_thread(
            search_log, self._directory, body.wanted, body.before, body.most
        )

    async def _stored(self, body: StoredBody) -> StoredText | None:
        return await asyncio.to_thread(
            stored_text, self._directory, body.url, body.serial, body.offset
        )

    async def _last_visits(self, body: WhyBody) -> list[dict[str, object]]:
        return await asyncio.to_thread(self._visits, body.url)

    async def _aliases(self, _body: Nothing) -> Any:
        return msgspec.json.decode(await asyncio.to_thread(self._node.aliases))

    async def _undo_alias(self, body: HostBody) -> bool:
        return await checked(self._node.undo_alias, body.host)

    async def _resend(self, body: SinceBody) -> int:
        return await checked(self._node.resend, body.since_us)

    async def _snapshot(self, _body: Nothing) -> int:
        return await self._keeper.save_changed()

    async def _rerank(self, _body: Nothing) -> bool:
        await asyncio.to_thread(self._node.rerank)
        return True

    async def _tell_status(self, _body: Nothing) -> NodeStatus:
        return self._status()

    async def _shutdown(self, _body: Nothing) -> bool:
        self._stop("removed by command", for_good=True)
        return True
