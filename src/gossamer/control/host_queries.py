"""Hosts and URLs of a cluster: each is asked of the node that owns it, lists of every node.

Each node answers from memory, in its own order; the pages are merged here.
"""

import contextlib
import heapq
from typing import Any

import msgspec

from gossamer._native import UrlRules, canonical_url, host_key, partition
from gossamer.control.host_views import (
    QUEUE_SHOWN,
    host_detail,
    host_row,
    make_cursor,
    native_question,
    url_account,
)
from gossamer.control.leader.control_node import ControlNode
from gossamer.control.pattern_views import pattern_page, taken_up
from gossamer.control.schemas import (
    HostAction,
    HostDetail,
    HostPage,
    HostQuery,
    HostRow,
    PatternPage,
    PatternQuery,
    StoredPage,
    TakenUp,
    TakeUp,
    UrlAccount,
    VisitPage,
    VisitQuery,
)
from gossamer.control.schemas.hosts import HostStanding
from gossamer.control.service import NotKnownError, UnreachableError, service_error
from gossamer.control.stored_pages import stored_page, stored_place
from gossamer.control.visit_pages import read_cursor, visit_page, wanted
from gossamer.errors import GossamerError
from gossamer.library.log_search import Found
from gossamer.library.stored_text import StoredText
from gossamer.model.findings import Findings
from gossamer.settings.url_rules import url_rules


class HostQueries:
    """Asks the nodes about the hosts that they own."""

    def __init__(self, node: ControlNode) -> None:
        self._node = node

    def _quota(self) -> int | None:
        return self._node.settings.current.limits.pages_per_host

    async def page(self, query: HostQuery) -> HostPage:
        question = native_question(query)
        body = {"question": question, "active": query.standing is HostStanding.ACTIVE}
        try:
            answers = await self._node.requests.ask_all("hosts", body)
        except GossamerError as error:
            raise service_error(error) from error
        quota = self._quota()
        pages, matched, total, more = [], 0, 0, False
        for node, answer in answers.items():
            if not isinstance(answer, dict) or "rows" not in answer:
                raise UnreachableError("no_answer", f"{node} does not answer: {answer}")
            rows = [host_row(row, node=node, quota=quota) for row in answer["rows"]]
            places = [(place[0], place[1], place[2]) for place in answer["places"]]
            pages.append(list(zip(places, rows, strict=True)))
            matched += answer["matched"]
            total += answer["total"]
            more = more or answer["more"]
        merged = list(heapq.merge(*pages, key=_place, reverse=query.reverse))
        shown = merged[: query.limit]
        more = more or len(merged) > len(shown)
        return HostPage(
            hosts=[row for _, row in shown],
            next=make_cursor(shown[-1][0], query) if more and shown else None,
            matched=matched,
            total=total,
        )

    def _owner(self, url: str) -> str:
        """The node that has a URL's host."""
        value = self._node.state.map
        if value is None:
            raise UnreachableError("not_ready", "there is no map of partitions yet")
        owner = value.rows[partition(self._host_key(url), len(value.rows))].owner
        if not owner:
            raise UnreachableError("no_owner", "nobody owns this host's partition at the moment")
        return owner

    def _check_held(self, owner: str, host: str) -> None:
        """A node that does not hold a partition yet knows nothing of its hosts."""
        value, known = self._node.state.map, self._node.membership.nodes.get(owner)
        number = partition(self._host_key(_address(host)), len(value.rows)) if value else 0
        status = known.fresh if known is not None else None
        if status is None or number not in dict(status.partitions):
            words = f"{owner} does not hold the partition of {host[:100]} at the moment"
            raise UnreachableError("no_answer", words)

    def _url_rules(self) -> UrlRules:
        return url_rules(self._node.settings.current)

    def _host_key(self, url: str) -> int:
        try:
            return host_key(url, self._url_rules())
        except ValueError as error:
            raise NotKnownError("no_such_host", f"{url[:200]} is no address: {error}") from error

    async def _ask_owner(self, url: str, name: str, body: object) -> tuple[str, Any]:
        owner = self._owner(url)
        try:
            return owner, await self._node.requests.ask(owner, name, body)
        except GossamerError as error:
            raise service_error(error) from error

    async def row(self, name: str) -> HostRow:
        node, state = await self._ask_owner(_address(name), "host", {"host": name})
        if state is None:
            self._check_held(node, name)
            raise NotKnownError("no_such_host", f"nothing of the host {name[:100]} was ever queued")
        quota = self._quota()
        return host_row(state, node=node, quota=quota)

    async def detail(self, name: str) -> HostDetail:
        body = {"host": name, "most": QUEUE_SHOWN}
        node, detail = await self._ask_owner(_address(name), "host_detail", body)
        if detail is None:
            self._check_held(node, name)
            raise NotKnownError("no_such_host", f"nothing of the host {name[:100]} was ever queued")
        return host_detail(detail)

    async def visits(self, query: VisitQuery) -> VisitPage:
        """Of every node's log: a host may have been another's before."""
        before, question = read_cursor(query.cursor), msgspec.to_builtins(wanted(query))
        requests = self._node.requests

        def body(node: str) -> dict[str, Any] | None:
            place = before.get(node) if before is not None else None
            done = before is not None and node in before and place is None
            return None if done else {"wanted": question, "before": place, "most": query.limit}

        try:
            answers = await requests.ask_each("log", body)
        except GossamerError as error:
            raise service_error(error) from error
        looks = {
            node: msgspec.convert(told, Found) for node, told in answers.items() if _is_look(told)
        }
        if answers and not looks:
            raise UnreachableError("no_answer", "no node answers")
        return visit_page(looks, before, query.limit)

    async def stored_page(self, url: str) -> StoredPage:
        """By the owner, or by whoever had the host when it was visited."""
        account = await self.why(url)
        serial, offset = stored_place(account.model_dump())
        body = {"url": account.url, "serial": serial, "offset": offset}
        answers = await self._node.requests.ask_all("stored", body)
        owner = account.node or ""
        for node in sorted(answers, key=lambda name: name != owner):
            told = answers[node]
            if isinstance(told, dict) and "file" in told:
                return stored_page(account.url or url, node, msgspec.convert(told, StoredText))
        return stored_page(account.url or url, owner, None)

    async def steer(self, name: str, action: HostAction, seconds: float) -> None:
        """One of the acts that only the owner can do."""
        body = {"host": name, "action": action.value, "wait_us": round(seconds * 1e6)}
        node, known = await self._ask_owner(_address(name), "steer_host", body)
        if not known:
            self._check_held(node, name)
            raise NotKnownError("no_such_host", f"the host {name[:100]} is not known")

    async def patterns(self, query: PatternQuery) -> PatternPage:
        body = {"most": query.limit, "host": query.host}
        if query.host is not None:
            node, told = await self._ask_owner(_address(query.host), "patterns", body)
            return pattern_page([(node, _findings(node, told))], query.limit)
        try:
            answers = await self._node.requests.ask_all("patterns", body)
        except GossamerError as error:
            raise service_error(error) from error
        found = [(node, _findings(node, told)) for node, told in answers.items()]
        return pattern_page(found, query.limit)

    async def take_up(self, asked: TakeUp) -> tuple[str, TakenUp]:
        """By the owner of the host; gives who that is."""
        body = {"host": asked.host, "pattern": asked.pattern}
        node, (patterns, urls) = await self._ask_owner(_address(asked.host), "take_up", body)
        if not patterns:
            self._check_held(node, asked.host)
        return node, taken_up(asked, patterns, urls)

    async def why(self, url: str, rules_version: int | None = None) -> UrlAccount:
        try:
            canonical_url(url, None, self._url_rules())
        except ValueError as error:
            return UrlAccount(given=url, refused=str(error))
        node, account = await self._ask_owner(url, "why", {"url": url})
        visits: list[dict[str, object]] = []
        if "url" in account:
            _node, visits = await self._ask_owner(url, "visits", {"url": account["url"]})
        return url_account(
            account, node=node, quota=self._quota(), rules_version=rules_version, visits=visits
        )

    async def last_visits(self, urls: list[str | None]) -> list[dict[str, Any] | None]:
        """What became of each URL; None where nothing is known, or nobody can be asked now."""
        by_owner: dict[str, list[int]] = {}
        for place, url in enumerate(urls):
            # Whoever has no owner now is told as queued; the next look tells more.
            with contextlib.suppress(UnreachableError):
                if url is not None:
                    by_owner.setdefault(self._owner(url), []).append(place)
        visits: list[dict[str, Any] | None] = [None] * len(urls)
        for owner, places in by_owner.items():
            body = {"urls": [urls[place] for place in places]}
            with contextlib.suppress(GossamerError):
                answer = await self._node.requests.ask(owner, "last_visits", body)
                if isinstance(answer, list):
                    for place, visit in zip(places, answer, strict=True):
                        visits[place] = visit
        return visits


def _is_look(told: object) -> bool:
    return isinstance(told, dict) and "lines" in told


def _address(host: str) -> str:
    return f"http://{host}/"


def _findings(node: str, told: object) -> Findings:
    """What a node told, or why it told nothing."""
    try:
        return msgspec.convert(told, Findings)
    except msgspec.ValidationError as error:
        raise UnreachableError("no_answer", f"{node} does not answer: {told}") from error


def _place(pair: tuple[tuple[int, str, int], HostRow]) -> tuple[int, str, int]:
    return pair[0]
