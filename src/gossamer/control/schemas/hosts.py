"""Hosts: a page of them in any order, and what can be done to one."""

from enum import StrEnum

from pydantic import Field

from gossamer.control.schemas.base import RequestSchema, Schema


class HostSort(StrEnum):
    """Order of a list of hosts: the first four from the largest down, the others up."""

    QUEUED = "queued"
    PAGES = "pages"
    ERRORS = "errors"
    LAST_VISIT = "last_visit"
    NEXT_VISIT = "next_visit"
    NAME = "name"


class HostStanding(StrEnum):
    IDLE = "idle"
    ACTIVE = "active"
    WAITING = "waiting"
    SET_ASIDE = "set_aside"
    BLOCKED = "blocked"
    GIVEN_UP = "given_up"


class HostQuery(Schema):
    sort: HostSort = HostSort.QUEUED
    reverse: bool = Field(default=False, description="the other way round")
    search: str = Field(
        default="", max_length=255, description="part of the host's name; `^` first: its beginning"
    )
    standing: HostStanding | None = Field(default=None, description="only hosts that stand so")
    failure: str | None = Field(
        default=None, max_length=40,
        description="only hosts that failed with this outcome last, or were given up for it",
    )  # fmt: skip
    cursor: str | None = Field(
        default=None, max_length=512, description="`next` of the page before; absent: from the top"
    )
    limit: int = Field(default=50, ge=1, le=500)


class RobotsView(Schema):
    kind: str = Field(description="unknown, rules, allow_all or unreachable")
    until: int = Field(description="rules: fresh until; unreachable: next try; 0: never asked")
    since: int = Field(description="unreachable: since when; else 0")
    tries: int


class HostPolicyView(Schema):
    """What a policy of hosts decided."""

    budget: int | None = Field(description="pages that may be visited in all; null: no limit")
    weight: float = Field(description="share among hosts that are due; 1 is usual")
    delay: float = Field(description="least time between two visits, in seconds; 0: none")
    reason: str


class LastFailure(Schema):
    """How a visit to a host failed last."""

    outcome: str
    until: float = Field(
        description="the host, or a URL of it, waits or waited because of failures"
    )


class HostRow(Schema):
    name: str
    node: str | None = Field(description="the node that owns it")
    partition: int
    standing: HostStanding
    due: float = Field(description="no visit before this time")
    last_end: float | None = Field(description="end of the last visit; null: none yet")
    gap: float = Field(description="least time between two visits, in seconds")
    gap_source: str = Field(
        description="where the gap comes from: setting, override, rule, crawl_delay, "
        "response_time, policy or throttled"
    )
    override: float | None = Field(description="its own gap in politeness.overrides, in seconds")
    crawl_delay: float = Field(description="asked for by its robots rules, in seconds; 0: none")
    response_time: float
    under_way: int
    ip: str | None
    queued: int
    waiting: int = Field(description="of the queued URLs, those that wait for a time")
    pages: int
    quota: int | None = Field(description="limits.pages_per_host, or a rule's; null: no limit")
    bytes: int
    errors: int
    failures_in_a_row: int
    last_failure: LastFailure | None = Field(
        default=None, description="null: none, or it has answered well since"
    )
    set_asides: int
    blocked: bool
    set_aside: bool
    given_up: str | None = Field(description="the outcome that its URLs leave the queue with")
    robots_http: RobotsView
    robots_https: RobotsView
    policy: HostPolicyView | None = Field(
        default=None, description="what a policy of hosts decided; null: nothing"
    )


class HostPage(Schema):
    hosts: list[HostRow]
    next: str | None = Field(description="`cursor` of the page after this; null: the last page")
    matched: int = Field(description="hosts that match the search, on all pages")
    total: int = Field(description="hosts known")


class HostAction(StrEnum):
    """What can be done to a host.

    `block`: no visit until `unblock`; its URLs stay queued. `slow_down`: a gap of its own (an entry
    in politeness.overrides); `speed_up` takes it away. `set_aside`: no visit for a while; `retry`
    ends that and forgives failures. `forget`: gives it up, its URLs leave the queue.
    """

    BLOCK = "block"
    UNBLOCK = "unblock"
    SLOW_DOWN = "slow_down"
    SPEED_UP = "speed_up"
    SET_ASIDE = "set_aside"
    RETRY = "retry"
    FORGET = "forget"


class HostCommand(RequestSchema):
    action: HostAction
    seconds: float | None = Field(
        default=None,
        ge=0,
        le=31_536_000,
        description="slow_down: the gap; set_aside: how long. Not for other actions",
    )
