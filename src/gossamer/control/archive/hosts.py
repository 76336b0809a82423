"""Hosts of a crawl that does not run: from the lists of its nodes, or, without a state, as the log has them."""

import heapq
from collections.abc import Callable
from typing import Final

import msgspec

from gossamer._native import Node, UrlRefused, host_key, partition
from gossamer.control.archive.crawl import ArchivedCrawl
from gossamer.control.host_views import (
    QUEUE_SHOWN,
    Place,
    host_detail,
    host_row,
    make_cursor,
    native_question,
    read_cursor,
)
from gossamer.control.schemas import HostDetail, HostPage, HostQuery, HostRow, HostSort, RobotsView
from gossamer.control.schemas.hosts import HostStanding
from gossamer.control.service import NotKnownError
from gossamer.report.hosts import HostTally
from gossamer.settings.url_rules import url_rules

_TOP: Final = 2**63
_UNKNOWN: Final = RobotsView(kind="unknown", until=0, since=0, tries=0)
_VALUES: Final[dict[HostSort, Callable[[HostTally], int]]] = {
    HostSort.QUEUED: lambda _row: 0,
    HostSort.PAGES: lambda row: _TOP - row.pages,
    HostSort.ERRORS: lambda row: _TOP - row.failed,
    HostSort.LAST_VISIT: lambda row: _TOP - round(row.last * 1e6),
    HostSort.NEXT_VISIT: lambda _row: 0,
    HostSort.NAME: lambda _row: 0,
}


class Hosts:
    def __init__(self, crawl: ArchivedCrawl) -> None:
        self._crawl = crawl
        self._rules = url_rules(crawl.settings)

    def page(self, query: HostQuery) -> HostPage:
        return self._of_nodes(query) if self._crawl.nodes else self._of_log(query)

    def row(self, name: str) -> HostRow:
        for node_name, node in self._crawl.nodes.items():
            text = node.host(name)
            if text is not None:
                return self._state(msgspec.json.decode(text), node_name)
        if not self._crawl.nodes and (row := self._crawl.visits.hosts.get(name.strip().lower())):
            return self._logged(row)
        raise NotKnownError("no_such_host", f"nothing of the host {name[:100]} was ever queued")

    def detail(self, name: str) -> HostDetail:
        for node in self._crawl.nodes.values():
            text = node.host_detail(name, QUEUE_SHOWN)
            if text is not None:
                return host_detail(msgspec.json.decode(text))
        # Without a state nobody knows of queues and rules; whether there is such a host, the log does.
        self.row(name)
        return HostDetail(queue=[], robots_http=None, robots_https=None)

    def _quota(self) -> int | None:
        return self._crawl.settings.limits.pages_per_host

    def _state(self, state: dict[str, object], node: str) -> HostRow:
        return host_row(state, node=node, quota=self._quota())

    def _of_nodes(self, query: HostQuery) -> HostPage:
        question = native_question(query)
        # Nothing is under way where nothing runs.
        among: list[int] | None = [] if query.standing is HostStanding.ACTIVE else None
        pages: list[list[tuple[Place, HostRow]]] = []
        matched, total, more = 0, 0, False
        for name, node in self._crawl.nodes.items():
            places, has_more, fit, known = _find(node, question, among)
            rows = msgspec.json.decode(node.hosts([key for _, _, key in places]))
            pages.append(
                [(place, self._state(row, name)) for place, row in zip(places, rows, strict=True)]
            )
            matched, total, more = matched + fit, total + known, more or has_more
        merged = list(heapq.merge(*pages, key=lambda pair: pair[0], reverse=query.reverse))
        return _page(merged, query, matched=matched, total=total, more=more)

    def _of_log(self, query: HostQuery) -> HostPage:
        search = query.search.strip().lower()
        known = self._crawl.visits.hosts.all()
        if query.standing not in {None, HostStanding.IDLE}:
            found: list[HostTally] = []
        elif search.startswith("^"):
            found = [row for row in known if row.host.startswith(search[1:])]
        else:
            found = [row for row in known if search in row.host]
        if query.failure is not None:
            found = [row for row in found if query.failure in row.outcomes]
        value = _VALUES[query.sort]
        places = [((value(row), row.host, 0), row) for row in found]
        places.sort(key=lambda pair: pair[0], reverse=query.reverse)
        after = read_cursor(query) if query.cursor else None
        rest = [pair for pair in places if after is None or _comes(pair[0], after, query)]
        shown = [(place, self._logged(row)) for place, row in rest[: query.limit]]
        more = len(rest) > len(shown)
        return _page(shown, query, matched=len(found), total=len(known), more=more)

    def _logged(self, row: HostTally) -> HostRow:
        """What the log tells; the rest only a state knows."""
        crawl = self._crawl
        try:
            number = partition(
                host_key(f"http://{row.host}/", self._rules), crawl.settings.partitions
            )
        except (UrlRefused, ValueError):
            number = 0
        return HostRow(
            name=row.host, node=None, partition=number, standing=HostStanding.IDLE,
            due=row.last, last_end=row.last or None, gap=crawl.settings.politeness.delay, gap_source="setting",
            override=None, crawl_delay=0.0, response_time=row.mean, under_way=0, ip=row.ip,
            queued=0, waiting=0, pages=row.pages, quota=self._quota(), bytes=row.bytes,
            errors=row.failed, failures_in_a_row=0, set_asides=0, blocked=False, set_aside=False,
            given_up=None, robots_http=_UNKNOWN, robots_https=_UNKNOWN,
        )  # fmt: skip


def _comes(place: Place, after: Place, query: HostQuery) -> bool:
    return place < after if query.reverse else place > after


def _find(node: Node, question: str, among: list[int] | None) -> tuple[list[Place], bool, int, int]:
    found = node.host_list()
    return ([], False, 0, 0) if found is None else found.find_places(question, among)


def _page(
    found: list[tuple[Place, HostRow]], query: HostQuery, *, matched: int, total: int, more: bool
) -> HostPage:
    shown = found[: query.limit]
    more = more or len(found) > len(shown)
    return HostPage(
        hosts=[row for _, row in shown],
        next=make_cursor(shown[-1][0], query) if more and shown else None,
        matched=matched,
        total=total,
    )
