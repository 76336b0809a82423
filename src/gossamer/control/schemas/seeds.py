"""Seeds submitted to a running crawl, and what became of each."""

from typing import Annotated

from pydantic import Field, StringConstraints

from gossamer.control.schemas.base import RequestSchema, Schema

RawUrl = Annotated[str, StringConstraints(min_length=1, max_length=8192)]


class SubmitSeeds(RequestSchema):
    urls: list[RawUrl] = Field(min_length=1, max_length=10_000)


class SeedResult(Schema):
    url: str = Field(description="as submitted")
    taken: bool
    reason: str | None = Field(description="why it was refused")


class SeedSubmission(Schema):
    id: int
    time: float
    who: str
    taken: int
    refused: int
    seeds: list[SeedResult] = Field(description="in a list of submissions: the first ones only")


class SubmissionPage(Schema):
    """The last submissions first."""

    submissions: list[SeedSubmission]
    next: int | None = Field(description="`before` of the next page; null: the last page")


class SeedFate(Schema):
    """What became of a seed until now."""

    url: str
    taken: bool
    reason: str | None
    queued: bool
    outcome: str | None = Field(description="of the last visit; null: not visited yet")
    status: int | None
    time: float | None


class SubmissionFates(Schema):
    id: int
    total: int
    fates: list[SeedFate]
    next: int | None = Field(description="`offset` of the next page; null: the last page")
