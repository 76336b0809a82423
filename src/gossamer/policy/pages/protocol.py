"""The door `pages`: what is kept of a finished visit.

Asked every so many pages or milliseconds, before the page is stored; the visit is held meanwhile.
Answered: keep or drop, fields to store, further links, a score. No answer in time: stored as
without a policy. Several policies are asked one after the other, and their answers joined.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import msgspec

from gossamer.policy.answer import (
    NonsenseError,
    Reasons,
    booleans,
    column,
    json_hook,
    numbers,
    reasons,
)
from gossamer.policy.batch import Batch

COLUMNS: Final = (
    "url", "host", "depth", "from", "outcome", "status", "content_type", "fetched_at", "ms", "bytes",
    "title", "language", "charset", "text_bytes", "simhash", "noindex", "nofollow", "noarchive",
    "canonical", "headers", "links", "text", "body",
)  # fmt: skip

FIELDS_LENGTH: Final = 1 << 20
"""Bytes of JSON that the fields of one page may have."""

LINKS: Final = 10_000
"""Further links that one page may have."""


@dataclass(frozen=True, slots=True)
class PageDecisions:
    """A column left out, or a None in it: as without a policy."""

    keep: Collection[bool | None] | None = None
    """False: the page is not stored; its links are followed all the same."""
    fields: Collection[Mapping[str, Any] | None] | None = None
    """Values of JSON to store with the page."""
    links: Collection[Collection[str] | None] | None = None
    """Further links, absolute or relative to the page; they pass scope and `seen` as others do."""
    score: Collection[float | None] | None = None
    """From 0 to 1: what the page hands on to its links as `parent_score`."""
    reason: Reasons = None

    def columns(self, rows: int) -> dict[str, list[Any]]:
        found: dict[str, list[Any]] = {}
        if self.keep is not None:
            found["keep"] = booleans("keep", self.keep, rows)
        if self.fields is not None:
            found["fields"] = column("fields", self.fields, rows, _fields)
        if self.links is not None:
            found["links"] = column("links", self.links, rows, _links)
        if self.score is not None:
            found["score"] = numbers("score", self.score, rows, most=1.0)
        return found | {"reason": reasons(self.reason, rows)}


def _fields(value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        raise NonsenseError("fields: a table of names and values expected")
    try:
        length = len(msgspec.json.encode(value, enc_hook=json_hook))
    except (TypeError, ValueError, RecursionError) as error:
        raise NonsenseError(f"fields: cannot be written as JSON: {error}") from error
    if length > FIELDS_LENGTH:
        raise NonsenseError(f"fields: {length} bytes of JSON; {FIELDS_LENGTH} are allowed")
    return dict(value)


def _links(value: Any) -> list[str]:
    is_list = isinstance(value, Collection) and not isinstance(value, str | bytes)
    if not is_list or not all(isinstance(link, str) for link in value):
        raise NonsenseError("links: a list of texts expected for each page")
    if len(value) > LINKS:
        raise NonsenseError(f"links: {len(value)} of one page; {LINKS} are allowed")
    return list(value)


class PagesPolicy(Protocol):
    """A processor of pages."""

    name: str
    columns: Sequence[str]
    """Those of `COLUMNS` that it asks for; `text` and `body` cost the most."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        """`settings`: the table `[policy.NAME]`; ValueError names what is wrong in it."""

    def process(self, batch: Batch) -> PageDecisions: ...
