"""What is told of the crawls of a folder. Times are seconds since the epoch. Absent is `null`: not known, or does not apply."""

import unicodedata
from typing import Final, Literal

from pydantic import Field, field_validator

from gossamer.control.schemas.base import RequestSchema, Schema
from gossamer.library.runs import Kind
from gossamer.model.choices import ScopeKind

State = Literal[
    "running", "paused", "disk_full", "finished", "limit_reached", "stopped", "killed", "failed",
    "unknown",
]  # fmt: skip


LONGEST_LINE: Final = 8192
"""Bytes of a line of settings, in UTF-8."""
_NO_TEXT: Final = {"Cc", "Zl", "Zp"}
"""Kinds of characters that a text of one line has not: controls, ends of lines and paragraphs."""


class CrawlRow(Schema):
    """A crawl, as far as the files at the top of its directory and its own API tell."""

    name: str = Field(description="its folder's; `.`: the folder that was asked about is a crawl")
    kind: Kind = Field(description="of one process, or a cluster")
    running: bool
    state: State = Field(
        description="what it does, or how its last run ended; `unknown`: made before runs were written down"
    )
    error: str = Field(default="", description="why the last run failed")
    pages: int | None = Field(
        description="so far; null: it runs without an API, or nobody wrote it down"
    )
    runs: int = Field(description="0: not known")
    began: float | None = Field(description="when the last run began")
    ended: float | None = Field(description="when it ended; null also if it was killed")
    dashboard: str | None = Field(
        description="address of its dashboard, or of the read-only one of `gossamer open`"
    )
    link: bool = Field(default=False, description="its folder is a link to another place")
    opened: bool = Field(
        default=False, description="the page that was asked has opened it, and can close it"
    )


class CrawlList(Schema):
    folder: str
    crawls: list[CrawlRow] = Field(description="those begun last first")
    left_out: int = Field(description="how many more there are")


class NewCrawl(RequestSchema):
    """A crawl to be started: what `gossamer crawl` is told."""

    name: str = Field(max_length=300, description="of its folder, which is made")
    seeds: str = Field(description="as in a file of seeds: a URL a line, # begins a comment")
    scope: ScopeKind | None = Field(default=None, description="what links must share with a seed")
    max_pages: int | None = Field(default=None, ge=1, le=2**53)
    max_depth: int | None = Field(default=None, ge=0, le=2**31)
    delay: str | None = Field(default=None, max_length=100, description="such as 1s or 250ms")
    allow_private: bool = Field(default=False, description="visit loopback and private addresses")
    contact: str | None = Field(
        default=None, max_length=1000, description="of the operator, named in every request"
    )
    settings: str = Field(
        default="", max_length=100_000, description="any settings, as stage.name=value a line"
    )

    @field_validator("delay", "contact")
    @classmethod
    def _is_one_line(cls, value: str | None) -> str | None:
        _check_text(value or "", besides="")
        return value

    @field_validator("settings")
    @classmethod
    def _is_lines(cls, value: str) -> str:
        _check_text(value, besides="\n\r\t")
        if any(len(line.encode()) > LONGEST_LINE for line in value.splitlines()):
            raise ValueError(f"a line has {LONGEST_LINE} bytes at most")
        return value


class GoOn(RequestSchema):
    max_pages: int | None = Field(
        default=None, ge=1, le=2**53, description="a new limit for the pages of all runs"
    )


class Entered(Schema):
    """A crawl, and the way into its dashboard."""

    crawl: CrawlRow
    enter: str | None = Field(
        description="address of its dashboard with the token to operate in the fragment; null: it has none, or none that can be reached as the page is"
    )


def _check_text(value: str, *, besides: str) -> None:
    for one in value:
        if one not in besides and unicodedata.category(one) in _NO_TEXT:
            raise ValueError(f"no control characters, such as U+{ord(one):04X}")
