"""The runs of a crawl: each start of it, until it ended."""

from typing import Literal

from pydantic import Field

from gossamer.control.schemas.base import Schema


class RunView(Schema):
    number: int
    kind: Literal["crawl", "cluster"]
    resumed: bool = Field(description="whether it went on with a crawl that was there")
    version: str
    began: float
    ended: float | None = Field(description="null: it goes on, or was killed, nobody knows when")
    state: str = Field(
        description="running, finished, limit_reached, stopped, disk_full, failed or killed"
    )
    pages: int | None = Field(description="that it brought, so far; null: not known")
    pages_in_all: int | None = Field(description="of the crawl when it ended; null: not known")
    error: str = Field(description="why it failed; empty otherwise")


class RunPage(Schema):
    """The last runs first."""

    runs: list[RunView]
    next: int | None = Field(description="`before` of the next page; null: the last page")
    go_on: str | None = Field(
        description="the command that goes on with the crawl; null: it runs, nothing is left, or it has no state"
    )
