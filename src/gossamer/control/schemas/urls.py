"""`why`: what is known of a URL and its host, whose turn, which rule."""

from pydantic import Field

from gossamer.control.schemas.base import Schema
from gossamer.control.schemas.hosts import HostRow


class RobotsRule(Schema):
    line: int
    allow: bool
    pattern: str


class RobotsVerdict(Schema):
    allowed: bool
    rule: RobotsRule | None = Field(description="the rule that decides; null: none matches")
    crawl_delay: float | None
    fresh_until: int


class QueuePlace(Schema):
    """Where the URL stands; `unknown` says why that cannot be told."""

    ahead: int | None = Field(default=None, description="URLs of its host before it")
    score: float | None = Field(default=None, description="priority: 1 is first, 0 is last")
    band: int | None = Field(default=None, description="band of the queue: 0 is the best")
    kind: str | None = Field(default=None, description="kind of the link that led to it")
    anchor: str | None = Field(default=None, description="text of that link, where it is kept")
    parent_score: float | None = Field(
        default=None, description="score of the page with that link, where it is kept"
    )
    depth: int | None = None
    tries: int | None = None
    not_before: float | None = None
    unknown: str | None = None


class LastVisit(Schema):
    outcome: str | None
    status: int | None
    time: float
    depth: int
    visits: int = Field(default=1, description="of this URL so far")
    changes: int = Field(default=0, description="visits that found another content")
    first_visit: float | None = None
    last_change: float | None = None
    reason: str | None = Field(default=None, description="why, where the outcome does not say")
    warc_file: int | None = Field(description="serial number of the WARC file")
    warc_name: str | None = Field(default=None, description="its name; null: it is not to be found")
    warc_offset: int | None
    warc_length: int | None


class VisitLine(Schema):
    time: str
    outcome: str
    status: int | None
    bytes: int
    ms: float
    ip: str | None
    found_on: str | None
    reason: str | None = Field(default=None, description="why, where the outcome does not say")
    robots: str | None = Field(default=None, description="what the page says to robots")
    left_out: dict[str, int] = Field(
        default={}, description="links of the page that were not followed, by reason"
    )


class RuleDecision(Schema):
    """What a rule of the crawl decides for the URL."""

    effect: str
    rule: str = Field(description="its name")
    value: str
    depends_on: list[str] = Field(
        description="facts that are not known here: it decides if they are as it wants"
    )


class AliasView(Schema):
    of: str


class PatternView(Schema):
    """The URL pattern that a URL belongs to, and what the visits of the pattern brought."""

    pattern: str
    visits: int
    evidence: str
    doubted: str | None = Field(description="why its URLs come last; null: they do not")
    trusted: bool = Field(description="somebody took it up: it is not doubted again")
    set_aside: bool = Field(description="this URL is")
    urls_set_aside: int = Field(description="of the pattern")


class ParameterView(Schema):
    """What was found about a parameter of the URL."""

    name: str
    place: str = Field(description="where: a path, a folder, `**` for the whole host")
    state: str = Field(description="learnt: it changes nothing; undone; kept: by command")
    evidence: str


class ParametersView(Schema):
    """Which parameters of the URL change nothing."""

    found: list[ParameterView]
    stripped: str | None = Field(description="the names that links to it lose")
    visited_as: str | None = Field(description="the URL without them")


class UrlAccount(Schema):
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
    rules: list[RuleDecision] = Field(default=[], description="which rule decides what")
    rules_version: int | None = Field(
        default=None, description="version of the settings that changed the rules; null: none did"
    )
    policies: dict[str, str] = Field(
        default={}, description="what policies said of it lately, by door"
    )
    robots: RobotsVerdict | None = Field(default=None, description="null: rules not known")
    pattern: PatternView | None = None
    parameters: ParametersView | None = None
    soft_404: str | None = Field(
        default=None, description="what the host answers to a name that cannot exist"
    )
    alias: AliasView | None = Field(default=None, description="its host is another's other name")
    queued: QueuePlace | None = Field(default=None, description="null: not queued")
    last_visit: LastVisit | None = None
    visits: list[VisitLine] = Field(
        default=[], description="last visits in the recent part of the fetch log, oldest first"
    )
    host_state: HostRow | None = None
