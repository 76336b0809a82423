"""Single visits, from the fetch log; what is queued next of a host; a stored page."""

from pydantic import Field

from gossamer.control.schemas.base import Schema


class VisitQuery(Schema):
    """Which visits; newest first."""

    outcome: str | None = Field(default=None, max_length=40)
    host: str | None = Field(default=None, max_length=300)
    url: str | None = Field(
        default=None, max_length=4096,
        description="exactly this URL, in its canonical form",
    )  # fmt: skip
    status: int | None = Field(default=None, ge=100, le=999)
    text: str = Field(default="", max_length=300, description="part of the URL, in any case")
    since: float | None = Field(default=None, ge=0, le=2**40, description="not before this time")
    until: float | None = Field(default=None, ge=0, le=2**40, description="not after this time")
    cursor: str | None = Field(
        default=None, max_length=16_000, pattern="^[A-Za-z0-9_-]+$",
        description="`next` of the page before; absent: the newest",
    )  # fmt: skip
    limit: int = Field(default=50, ge=1, le=200)


class LoggedVisit(Schema):
    """A line of the fetch log."""

    time: float
    url: str
    host: str
    node: str | None = Field(description="the node that made the visit")
    outcome: str
    status: int | None
    bytes: int
    ms: float | None = Field(description="null: it did not get so far")
    ip: str | None
    depth: int
    found_on: str | None = Field(description="null: a seed")
    reason: str | None = Field(default=None, description="why, where the outcome does not say")


class VisitPage(Schema):
    """A look at a bounded part of the log: a page may have few visits, or none, and others after it."""

    visits: list[LoggedVisit]
    next: str | None = Field(description="`cursor` for older ones; null: the log begins here")
    reached: float | None = Field(
        description="the log was looked at from its end, or the cursor, back to this time"
    )


class QueuedUrl(Schema):
    url: str
    score: float | None = Field(description="priority: 1 is first, 0 is last")
    depth: int
    tries: int
    not_before: float | None = Field(description="it waits for this time")


class RobotsText(Schema):
    text: str
    bytes: int
    cut: bool = Field(description="the file is longer than what is given")


class HostDetail(Schema):
    """What is not in the list of hosts."""

    queue: list[QueuedUrl] = Field(
        description="the first of its queue; changes of this second may miss"
    )
    robots_http: RobotsText | None = Field(description="null: no rules are stored")
    robots_https: RobotsText | None


class StoredPage(Schema):
    """A stored page as text. Made to be looked at: control characters are replaced, it is cut, and it is not markup."""

    url: str
    node: str | None
    file: str = Field(description="the WARC file")
    offset: int
    kind: str = Field(description="response or revisit")
    media_type: str
    head: str = Field(description="status line and fields of the response")
    text: str = Field(description="empty: nothing to show; `note` says why")
    cut: bool
    note: str
