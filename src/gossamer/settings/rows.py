"""A row for every setting: what it means, how it is written, its range and unit.

Made from the model, so it cannot say anything else.
"""

import types
from collections.abc import Iterator
from enum import StrEnum
from functools import cache
from typing import Annotated, Any, Final, NamedTuple, Union, get_args, get_origin

import annotated_types
from pydantic import BaseModel, BeforeValidator
from pydantic.fields import FieldInfo

from gossamer.settings.model import CrawlSettings
from gossamer.settings.units import duration, size

UNITS: Final = {
    "partitions": "partitions",
    "threads": "threads",
    "canonical.max_length": "bytes",
    "canonical.session_token": "characters",
    "scope.seed_redirects": "redirects",
    "seen.expected": "URLs",
    "politeness.response_factor": "times the response time",
    "politeness.per_host": "connections",
    "politeness.set_aside_after": "failures",
    "politeness.set_aside_times": "times",
    "fetch.concurrency": "visits",
    "fetch.max_ratio": "decoded bytes per byte received",
    "dns.entries": "answers",
    "dns.concurrency": "look-ups",
    "parse.anchor_bytes": "bytes",
    "store.batch_pages": "pages",
    "alias.after": "paths",
    "alias.after_shared": "paths",
    "alias.differences": "share",
    "alias.sample": "URLs",
    "limits.pages": "pages",
    "limits.depth": "links",
    "limits.dynamic_depth": "links",
    "limits.site_depth": "folders",
    "limits.pages_per_host": "pages",
    "limits.doubted_visits": "visits",
    "limits.doubted_share": "share",
    "doors.batch_rows": "rows",
    "cluster.replicas": "servers",
    "cluster.links": "links",
    "cluster.cache": "links",
    "cluster.snapshot_keep": "snapshots",
    "control.port": "port",
}
"""What plain numbers count. Durations and sizes carry their unit in the value."""


class Row(NamedTuple):
    """A setting, without its value."""

    name: str
    stage: str
    meaning: str
    kind: str
    unit: str | None
    minimum: float | None
    maximum: float | None
    choices: list[str] | None
    optional: bool
    live: bool


@cache
def rows() -> list[Row]:
    """All settings, in the order of the model."""
    return [_row(name, stage, field) for name, stage, field in fields()]


def fields() -> Iterator[tuple[str, str, FieldInfo]]:
    for name, field in CrawlSettings.model_fields.items():
        if isinstance(field.default, BaseModel):
            for inner, of in type(field.default).model_fields.items():
                yield f"{name}.{inner}", name, of
        else:
            yield name, "crawl", field


def _row(name: str, stage: str, field: FieldInfo) -> Row:
    annotation, optional = _without_none(field.annotation)
    kind, choices, metadata = _kind(annotation, list(field.metadata))
    extra = field.json_schema_extra
    bounds = _bounds(metadata)
    return Row(
        name=name,
        stage=stage,
        meaning=field.description or "",
        kind=kind,
        unit=UNITS.get(name),
        minimum=bounds[0],
        maximum=bounds[1],
        choices=choices,
        optional=optional,
        live=bool(isinstance(extra, dict) and extra.get("live")),
    )


def _without_none(annotation: Any) -> tuple[Any, bool]:
    if get_origin(annotation) in {Union, types.UnionType}:
        others = [one for one in get_args(annotation) if one is not type(None)]
        return others[0], len(others) < len(get_args(annotation))
    return annotation, False


def _kind(annotation: Any, metadata: list[Any]) -> tuple[str, list[str] | None, list[Any]]:
    if get_origin(annotation) is Annotated:
        annotation, *more = get_args(annotation)
        metadata = [*metadata, *more]
    for mark in metadata:
        if isinstance(mark, BeforeValidator) and mark.func is duration:
            return "duration", None, metadata
        if isinstance(mark, BeforeValidator) and mark.func is size:
            return "size", None, metadata
    if isinstance(annotation, type) and issubclass(annotation, StrEnum):
        return "choice", [one.value for one in annotation], metadata
    simple = {bool: "boolean", int: "integer", float: "number", str: "text"}
    if annotation in simple:
        return simple[annotation], None, metadata
    origin, inner = get_origin(annotation), get_args(annotation)[-1]
    if isinstance(inner, type) and issubclass(inner, BaseModel):
        return "tables", None, metadata
    return {list: "list", dict: "map"}[origin], None, metadata


def _bounds(metadata: list[Any]) -> tuple[float | None, float | None]:
    low = high = None
    for mark in metadata:
        if isinstance(mark, annotated_types.Ge) and isinstance(mark.ge, int | float):
            low = float(mark.ge)
        if isinstance(mark, annotated_types.Le) and isinstance(mark.le, int | float):
            high = float(mark.le)
    return low, high
