"""Questions about hosts and URLs that a node answers for the partitions it holds."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from gossamer._native import Node
from gossamer.cluster.requests import checked
from gossamer.errors import GossamerError
from gossamer.model.findings import findings


class FindBody(msgspec.Struct, forbid_unknown_fields=True):
    """`question` is the native list's own; `active`: only hosts with a visit under way."""

    question: str
    active: bool = False


class NameBody(msgspec.Struct, forbid_unknown_fields=True):
    host: str


class DetailBody(msgspec.Struct, forbid_unknown_fields=True):
    host: str
    most: int


class SteerBody(msgspec.Struct, forbid_unknown_fields=True):
    host: str
    action: str
    wait_us: int = 0


class PatternsBody(msgspec.Struct, forbid_unknown_fields=True):
    """The patterns and parameters of one host or of all, at most so many of each."""

    most: int
    host: str | None = None


class TakeUpBody(msgspec.Struct, forbid_unknown_fields=True):
    host: str
    pattern: str | None = None


class UrlsBody(msgspec.Struct, forbid_unknown_fields=True):
    urls: list[str]


class NoBody(msgspec.Struct, forbid_unknown_fields=True):
    pass


class HostQuestions:
    """Each answers from counters and single rows, never from a scan of the store."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self.names: dict[str, tuple[type[Any], Callable[[Any], Awaitable[Any]]]] = {
            "hosts": (FindBody, self._find),
            "host": (NameBody, self._host),
            "host_detail": (DetailBody, self._detail),
            "steer_host": (SteerBody, self._steer),
            "patterns": (PatternsBody, self._patterns),
            "take_up": (TakeUpBody, self._take_up),
            "last_visits": (UrlsBody, self._last_visits),
            "partition_sizes": (NoBody, self._sizes),
        }

    async def _find(self, body: FindBody) -> Any:
        found = self._node.host_list()
        if found is None:
            raise GossamerError(
                "this node keeps no list of its hosts", do="ask its control node, which does"
            )
        among = await asyncio.to_thread(self._node.active_hosts) if body.active else None
        places, more, matched, total = await checked(found.find_places, body.question, among)
        keys = [key for _value, _name, key in places]
        rows = msgspec.json.decode(await asyncio.to_thread(self._node.hosts, keys))
        if len(rows) != len(places):
            # A host left with its partition between the two questions; the next page has the rest.
            places, rows, more = [], [], True
        return {"places": places, "rows": rows, "more": more, "matched": matched, "total": total}

    async def _host(self, body: NameBody) -> Any:
        text = await checked(self._node.host, body.host)
        return None if text is None else msgspec.json.decode(text)

    async def _detail(self, body: DetailBody) -> Any:
        text = await checked(self._node.host_detail, body.host, body.most)
        return None if text is None else msgspec.json.decode(text)

    async def _steer(self, body: SteerBody) -> bool:
        return await checked(self._node.steer_host, body.host, body.action, body.wait_us)

    async def _patterns(self, body: PatternsBody) -> Any:
        return msgspec.to_builtins(await checked(findings, self._node, body.most, body.host))

    async def _take_up(self, body: TakeUpBody) -> tuple[int, int]:
        return await checked(self._node.take_up, body.host, body.pattern)

    async def _last_visits(self, body: UrlsBody) -> Any:
        return msgspec.json.decode(await checked(self._node.last_visits, body.urls))

    async def _sizes(self, _body: NoBody) -> Any:
        found = self._node.host_list()
        return [] if found is None else await asyncio.to_thread(found.partition_sizes)
