"""Hosts and URLs between the native node's JSON and the API's schemas; cursors of host lists."""

import base64
import binascii
from collections.abc import Sequence
from typing import Any

import msgspec

from gossamer.control.schemas import (
    AliasView,
    HostAction,
    HostCommand,
    HostDetail,
    HostQuery,
    HostRow,
    QueuedUrl,
    RobotsText,
    RobotsView,
    UrlAccount,
    VisitLine,
)
from gossamer.control.schemas.hosts import HostPolicyView, HostStanding, LastFailure
from gossamer.control.service import WrongValueError
from gossamer.policy.hosts.outcomes import REACTIONS

Place = tuple[int, str, int]
_U64 = 2**64
QUEUE_SHOWN = 20
"""URLs of a host's queue that are shown."""


def native_question(query: HostQuery) -> str:
    """The question as the native list takes it. Who is active, the list does not know."""
    if query.failure is not None and query.failure not in REACTIONS:
        raise WrongValueError("failure", f"there is no outcome {query.failure[:40]!r}")
    search = query.search.strip().lower()
    active = query.standing is HostStanding.ACTIVE
    standing = None if active or query.standing is None else query.standing.value
    return msgspec.json.encode(
        {
            "sort": query.sort.value,
            "reversed": query.reverse,
            "search": search.removeprefix("^"),
            "from_start": search.startswith("^"),
            "standing": standing,
            "failure": query.failure,
            "after": read_cursor(query) if query.cursor else None,
            "most": query.limit,
        }
    ).decode()


def _order(query: HostQuery) -> str:
    return f"-{query.sort.value}" if query.reverse else query.sort.value


def make_cursor(place: Place | None, query: HostQuery) -> str | None:
    """Where a page ends, as text that only `read_cursor` needs to understand."""
    if place is None:
        return None
    text = msgspec.json.encode([_order(query), *place])
    return base64.urlsafe_b64encode(text).decode().rstrip("=")


def read_cursor(query: HostQuery) -> Place:
    cursor = query.cursor or ""
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        of, value, name, key = msgspec.json.decode(text, type=tuple[str, int, str, int])
    except (binascii.Error, ValueError, msgspec.MsgspecError) as error:
        raise WrongValueError("wrong_cursor", "this is no cursor of a host list") from error
    if of != _order(query) or not (0 <= value < _U64 and 0 <= key < _U64):
        raise WrongValueError("wrong_cursor", "this cursor is of a list in another order")
    return value, name, key


def host_detail(detail: dict[str, Any]) -> HostDetail:
    """As the native node tells it."""
    return HostDetail(
        queue=[QueuedUrl(**one) for one in detail["queue"]],
        robots_http=_robots_text(detail["robots"]["http"]),
        robots_https=_robots_text(detail["robots"]["https"]),
    )


def _robots_text(told: dict[str, Any] | None) -> RobotsText | None:
    return None if told is None else RobotsText(**told)


def check_host_command(command: HostCommand) -> None:
    """Refuses a time where none is taken, and the lack of one where it is needed."""
    timed = command.action in {HostAction.SLOW_DOWN, HostAction.SET_ASIDE}
    if timed != (command.seconds is not None):
        word = "needs" if timed else "takes no"
        raise WrongValueError("seconds", f"{command.action.value} {word} `seconds`")


def host_row(
    state: dict[str, Any], *, node: str | None, quota: int | None, partition: int | None = None
) -> HostRow:
    """A host as the native node tells it."""
    robots = {scheme: RobotsView(**state["robots"][scheme]) for scheme in ("http", "https")}
    override = state.get("override")
    source = state["gap_source"]
    if state["given_up"] and state["standing"] not in {"active", "blocked"}:
        standing = HostStanding.GIVEN_UP
    elif state["blocked"] and state["standing"] == "idle":
        standing = HostStanding.BLOCKED
    else:
        standing = HostStanding(state["standing"])
    return HostRow(
        name=state["name"],
        node=node,
        partition=state.get("partition", partition or 0),
        standing=standing,
        due=state["due"],
        last_end=state["last_end"] or None,
        gap=state["gap"],
        gap_source="override" if source == "setting" and override is not None else source,
        override=override,
        crawl_delay=state["crawl_delay"],
        response_time=state["response_time"],
        under_way=state["under_way"],
        ip=state["ip"],
        queued=state["queued"],
        waiting=state["waiting"],
        pages=state["pages"],
        quota=state.get("quota", quota),
        bytes=state["bytes"],
        errors=state["errors"],
        failures_in_a_row=state["failures_in_a_row"],
        last_failure=LastFailure(**last) if (last := state.get("last_failure")) else None,
        set_asides=state["set_asides"],
        blocked=state["blocked"],
        set_aside=state["set_aside"],
        given_up=state["given_up"],
        robots_http=robots["http"],
        robots_https=robots["https"],
        policy=None if state["policy"] is None else HostPolicyView(**state["policy"]),
    )


def url_account(
    account: dict[str, Any],
    *,
    node: str | None,
    quota: int | None,
    rules_version: int | None = None,
    visits: Sequence[dict[str, object]] = (),
) -> UrlAccount:
    """`why` as the native node tells it, and the last lines of the log about the URL."""
    account = dict(account)
    state = account.pop("host_state", None)
    row = None
    if state is not None:
        row = host_row(state, node=node, quota=quota, partition=account["partition"])
    alias = account.pop("alias", None)
    return UrlAccount(
        **account,
        alias=None if alias is None else AliasView(of=alias["of"]),
        node=node if "url" in account else None,
        host_state=row,
        rules_version=rules_version,
        visits=[VisitLine.model_validate(row) for row in visits],
    )
