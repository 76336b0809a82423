"""What happened, what is wrong now, and how the counters went."""

from enum import StrEnum

from pydantic import Field, JsonValue

from gossamer.control.schemas.base import Schema


class EventKind(StrEnum):
    STARTED = "started"
    FINISHED = "finished"
    PAUSED = "paused"
    RESUMED = "resumed"
    STOPPED = "stopped"
    CHECKPOINT = "checkpoint"
    RERANK = "rerank"
    SETTING = "setting"
    HOST = "host"
    HOST_DECIDED = "host_decided"
    """By the crawl itself: of a host, or of URLs of it."""
    SEEDS = "seeds"
    NODE_JOINED = "node_joined"
    NODE_LEFT = "node_left"
    NODE_SILENT = "node_silent"
    NODE_FAILED = "node_failed"
    HAND_OVER = "hand_over"
    CONTROL = "control"
    OUTAGE = "outage"
    OUTAGE_ENDED = "outage_ended"
    ALERT = "alert"
    ALERT_ENDED = "alert_ended"


class Event(Schema):
    id: int = Field(description="grows; the `id` of the same event in the stream")
    time: float
    kind: EventKind
    text: str = Field(description="one line for people; may hold text from the web")
    node: str | None = None
    host: str | None = None
    who: str | None = Field(default=None, description="who caused it; null: nobody")
    data: dict[str, JsonValue] = Field(default={}, description="particulars, by kind")


class EventPage(Schema):
    """Oldest first."""

    events: list[Event]
    next: int | None = Field(description="`after` of the next page; null: no more for now")


class Severity(StrEnum):
    NOTICE = "notice"
    WARNING = "warning"
    CRITICAL = "critical"


class Alert(Schema):
    """Something is stuck, and why."""

    kind: str
    severity: Severity
    text: str
    hint: str = Field(description="what can be done")
    since: float
    node: str | None = None
    host: str | None = None
    hosts: dict[str, str] = Field(
        default={},
        description="the query of `GET /hosts` that gives the hosts concerned; empty: none",
    )


class History(Schema):
    """Readings of counters at equal steps; `columns` all have the length of `times`.

    Counters that only grow are given as they were; a rate is a difference over a step.
    """

    step: float = Field(description="seconds between readings")
    oldest: float | None = Field(
        default=None, description="the first time that is known, asked for or not; null: none is"
    )
    times: list[float]
    columns: dict[str, list[float]]
    outcomes: dict[str, list[int]]


class AuditEntry(Schema):
    """A line of the audit log: a change somebody made, or tried to make."""

    id: int = Field(default=0, description="grows")
    time: float
    who: str
    what: str
    target: str | None
    old: JsonValue
    new: JsonValue
    done: bool
    detail: str | None = Field(description="why it was not done")
