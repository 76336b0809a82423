"""`why`: what is known of a URL and its host, whose turn, which rule."""

from pydantic import Field

from gossamer.control.shapes.base import Shape
from gossamer.control.shapes.hosts import HostRow


class RobotsRule(Shape):
    line: int
    allow: bool
    pattern: str


class RobotsVerdict(Shape):
    allowed: bool
    rule: RobotsRule | None = Field(description="the rule that decides; null: none matches")
    crawl_delay: float | None
    fresh_until: int


class QueuePlace(Shape):
    """Where the URL stands; `unknown` says why that cannot be told."""

    ahead: int | None = Field(default=None, description="URLs of its host before it")
    band: int | None = Field(default=None, description="priority: 0 is the best")
    depth: int | None = None
    tries: int | None = None
    not_before: float | None = None
    unknown: str | None = None


class LastVisit(Shape):
    outcome: str | None
    status: int | None
    time: float
    depth: int
    warc_file: int | None = Field(description="serial number of the WARC file")
    warc_offset: int | None
    warc_length: int | None


class VisitLine(Shape):
    time: str
    outcome: str
    status: int | None
    bytes: int
    ms: float
    ip: str | None
    found_on: str | None


class AliasView(Shape):
    of: str


class UrlAccount(Shape):
    """Either `refused` says why this is no URL to visit, or `url` is its canonical form."""

    given: str
    refused: str | None = None
    url: str | None = None
    host: str | None = None
    registered_domain: str | None = None
    partition: int | None = None
    fingerprint: str | None = None
    node: str | None = Field(default=None, description="the node that owns its host")
    seen: bool | None = Field(default=None, description="null: cannot be told")
    out_of_scope: str | None = Field(default=None, description="the rule that keeps it out")
    robots: RobotsVerdict | None = Field(default=None, description="null: rules not known")
    alias: AliasView | None = Field(default=None, description="its host is another's other name")
    queued: QueuePlace | None = Field(default=None, description="null: not queued")
    last_visit: LastVisit | None = None
    visits: list[VisitLine] = Field(
        default=[], description="last visits in the recent part of the fetch log, oldest first"
    )
    host_state: HostRow | None = None
