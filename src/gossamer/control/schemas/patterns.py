"""URL patterns that are doubted and parameters that change nothing: why, and how to overrule it."""

from pydantic import Field

from gossamer.control.schemas.base import RequestSchema, Schema


class PatternQuery(Schema):
    host: str | None = Field(
        default=None, min_length=1, max_length=300, description="only what was found of this host"
    )
    limit: int = Field(default=100, ge=1, le=1000, description="of patterns, and of parameters")


class DoubtedPattern(Schema):
    """URLs of one shape, whose visits brought little: they come last, and most of them are set aside."""

    host: str
    node: str | None = Field(description="the node that owns the host")
    pattern: str = Field(description="`*` stands for a part that varies, `**` for any part")
    reason: str | None = Field(description="why its URLs come last; null: they do not any more")
    evidence: str | None = Field(description="what its visits brought; null: see the reason")
    visits: int
    set_aside: int = Field(description="URLs that wait to be taken up")
    taken_up: bool = Field(description="they are on their way back to the queue")


class LearntParameter(Schema):
    """What was found about a parameter of a host's URLs."""

    host: str
    node: str | None = Field(description="the node that owns the host")
    parameter: str = Field(description="its name")
    place: str = Field(description="where: a path, a folder, `**` for the whole host")
    state: str = Field(description="learnt: it changes nothing; undone; kept: by command")
    evidence: str


class PatternPage(Schema):
    patterns: list[DoubtedPattern] = Field(description="those with most URLs set aside first")
    total: int = Field(
        description="patterns that are doubted, on all hosts or on the one asked for"
    )
    parameters: list[LearntParameter] = Field(
        default=[], description="what was found about parameters, by host and name"
    )


class TakeUp(RequestSchema):
    """Visits what is set aside like any other URL, and never doubts its patterns again."""

    host: str = Field(min_length=1, max_length=300, description="as in its URLs")
    pattern: str | None = Field(
        default=None,
        min_length=1,
        max_length=8192,
        description="as it is listed; `?NAME`: the parameter NAME stays in URLs, and those that ended for it are "
        "visited; null: all patterns of the host",
    )


class TakenUp(Schema):
    host: str
    patterns: int = Field(description="that are doubted no more")
    urls: int = Field(description="of theirs that are queued again, now or in a moment")
