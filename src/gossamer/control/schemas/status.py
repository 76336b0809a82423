"""How the crawl goes, at a glance; and what every refusal looks like."""

from enum import StrEnum
from typing import Literal

import msgspec
from pydantic import Field

from gossamer.control.schemas.base import Schema
from gossamer.model.progress import Activity, DoorReport, Inner
from gossamer.model.waits import Wait
from gossamer.policy.hosts.outcomes import Group


class Role(StrEnum):
    """What a token allows: `read` sees everything, `operate` may change it."""

    READ = "read"
    OPERATE = "operate"


class Access(Schema):
    """Who the caller is to the API."""

    role: Role
    token_id: str = Field(description="first digits of the token's hash; named in the audit log")


class Problem(Schema):
    """Why a request was refused."""

    code: str = Field(description="short and stable, for programs")
    detail: str = Field(description="for people; says what to do where something can be done")


class ControlState(StrEnum):
    LEADS = "leads"
    WAITS = "waits"
    LOST = "lost"


class ControlNodeView(Schema):
    id: str
    leads: bool
    state: ControlState = Field(
        description="`waits`: lives, and leads when the one that leads is lost"
    )
    url: str | None = Field(default=None, description="where it serves; null: it does not")
    since: float | None = Field(default=None, description="when its process began; null: not known")
    last_heartbeat: float | None = Field(default=None, description="by its own clock")
    version: str | None = Field(default=None, description="of its program; null: not known")


class DoorView(Schema):
    """How the policies of a door did, since the nodes began."""

    batches: int = Field(description="answered")
    rows: int = Field(description="judged by the policy")
    failures: int = Field(description="batches that were not answered as they should")
    late: int = Field(description="of these, not in time")
    failed: int = Field(description="of these, a policy raised")
    nonsense: int = Field(description="of these, the answer could not be used")
    defaults: int = Field(description="rows judged without the policy because of that")
    resting: float | None = Field(description="seconds that the door still rests; null: it works")
    last_failure: str = Field(description="empty: there was none")


def door_views(doors: dict[str, DoorReport]) -> dict[str, DoorView]:
    return {door: DoorView(**msgspec.structs.asdict(report)) for door, report in doors.items()}


class WaitView(Schema):
    """Hosts that wait for one reason: after a failure, or because they asked for it."""

    hosts: int
    host: str = Field(description="the first of them to be tried again")
    due: float = Field(description="when that will be")


def wait_views(waits: dict[str, Wait]) -> dict[str, WaitView]:
    return {reason: WaitView(**msgspec.structs.asdict(wait)) for reason, wait in waits.items()}


class InnerView(Schema):
    """Sizes of what the nodes hold in memory; what their caches of names did since they began."""

    seen_ram: int = Field(default=0, description="bytes of the seen test in memory")
    seen_disk: int = Field(default=0, description="bytes of the files of the seen test")
    hosts_in_ram: int = Field(default=0, description="hosts in memory")
    heads: int = Field(default=0, description="queued URLs in memory")
    head_bytes: int = Field(default=0, description="their bytes")
    robots_rules: int = Field(default=0, description="robots files whose rules are in memory")
    robots_bytes: int = Field(default=0, description="bytes of these files")
    dns_names: int = Field(default=0, description="names in the DNS cache")
    dns_asked: int = Field(default=0, description="questions to the DNS cache")
    dns_hits: int = Field(default=0, description="questions answered without a look-up")
    dns_lookups: int = Field(default=0, description="DNS look-ups that have ended")
    dns_seconds: float = Field(default=0.0, description="seconds that they took, all together")


def inner_view(inner: Inner) -> InnerView:
    return InnerView(**msgspec.structs.asdict(inner))


class Status(Schema):
    """Counters of the whole crawl. Totals count from its first start, not from this process's."""

    time: float = Field(description="when these counters were read")
    mode: Literal["standalone", "cluster"]
    crawl: str = Field(description="the crawl's name: its directory's")
    version: str = Field(description="of the program")
    activity: Activity = Field(description="what the crawl does now, or how it ended")
    wanted: Literal["run", "pause", "stop"] = Field(description="what the operator asked for last")
    pages: int
    pages_dropped: int = Field(
        default=0, description="fetched, and not kept by a policy; the limits count them too"
    )
    bytes: int
    urls_seen: int
    urls_queued: int
    urls_set_aside: int = Field(
        default=0, description="URLs of doubted patterns, which wait to be taken up"
    )
    visits: int = Field(
        description="also those that reached no server, to robots files and to sitemaps"
    )
    in_flight: int = Field(description="visits under way")
    hosts_known: int
    hosts_active: int
    hosts_waiting: int
    hosts_set_aside: int
    hosts_blocked: int
    hosts_aliases: int
    reranking: int = Field(description="hosts whose queue is still to be put in another order")
    reranked: int = Field(description="URLs moved by that since the nodes began")
    outcomes: dict[str, int] = Field(
        description="lines of the fetch log: visits to pages, and what robots_files, sitemaps, probes and unvisited count"
    )
    robots_files: dict[str, int] = Field(
        default={}, description="visits to robots files, by outcome"
    )
    sitemaps: dict[str, int] = Field(default={}, description="visits to sitemaps, by outcome")
    probes: dict[str, int] = Field(
        default={}, description="visits that asked for a name that cannot exist, by outcome"
    )
    unvisited: dict[str, int] = Field(
        default={}, description="URLs that left the queue without a visit, by outcome"
    )
    links_left_out: dict[str, int] = Field(
        default={}, description="links that were not followed, by reason, each time they were met"
    )
    robots_said: dict[str, int] = Field(
        default={}, description="pages that say noindex or nofollow to robots"
    )
    soft_404s: int = Field(
        default=0, description="visits that brought what their host answers to a missing name"
    )
    script_pages: int = Field(
        default=0, description="pages with scripts and hardly any text or links of their own"
    )
    rss: int | None = Field(description="memory of all crawl nodes; null: none runs")
    disk: int = Field(
        description="all that the crawl's directory takes on the disk: of nodes on other machines theirs too"
    )
    disk_free: int | None = Field(description="free bytes where the crawl is; the least of all")
    seconds: float = Field(description="time that the crawl has worked")
    pages_per_second: float | None = Field(description="over the last 10 s; null: none runs")
    bytes_per_second: float | None = Field(description="over the last 10 s; null: none runs")
    eta_seconds: float | None = Field(description="time left, at least; null: cannot be told")
    eta_from: str | None = Field(
        description="what ends the crawl then: a limit, the queue or the slowest host"
    )
    next_due: float | None = Field(description="nothing is due before; null: something is")
    waits: dict[str, WaitView] = Field(
        default={},
        description="by the outcome that made them wait; the gap between two visits is none of these",
    )
    note: str
    read_only: str | None = Field(
        default=None,
        description="why nothing can be changed: this is a crawl's directory, not a running crawl; null: it can be",
    )
    nodes: int
    settings_version: int
    alerts: int = Field(description="how many alerts stand now")
    doors: dict[str, DoorView] = Field(default={}, description="only doors with policies")
    control: list[ControlNodeView] = Field(description="who answers comes first")
    inner: InnerView | None = Field(
        default=None, description="sizes of what the nodes hold in memory; null: none runs"
    )


class OutcomeView(Schema):
    """What a visit can come to."""

    name: str
    group: Group
    meaning: str = Field(description="for people, in a few words")
