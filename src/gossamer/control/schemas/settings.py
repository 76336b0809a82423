"""Settings: each with meaning, unit, range, value and default; changes with versions."""

import json
from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, Field, JsonValue, StringConstraints

from gossamer.control.schemas.base import RequestSchema, Schema


def _writable(value: JsonValue) -> JsonValue:
    """JSON can spell half a character (a lone surrogate), which no file and no answer can hold."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise ValueError("holds half a character (a lone surrogate)") from error
    return value


Given = Annotated[JsonValue, AfterValidator(_writable)]
SettingName = Annotated[str, StringConstraints(min_length=1, max_length=100)]


class SettingKind(StrEnum):
    """How a value is written: a duration as `10s`, a size as `64MiB`, the others as JSON."""

    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    TEXT = "text"
    CHOICE = "choice"
    DURATION = "duration"
    SIZE = "size"
    LIST = "list"
    MAP = "map"
    TABLES = "tables"


class SettingView(Schema):
    name: str = Field(description="stage.setting")
    stage: str
    meaning: str
    kind: SettingKind
    unit: str | None = Field(description="what a number counts; null: the value has its unit")
    minimum: float | None
    maximum: float | None
    choices: list[str] | None
    optional: bool = Field(description="may be null: absent")
    live: bool = Field(description="can be changed while the crawl runs")
    value: JsonValue
    default: JsonValue
    changed_in: int | None = Field(description="version of its last change; null: never")


class SettingsView(Schema):
    version: int = Field(description="grows by one with every change; 0: as the crawl was begun")
    settings: list[SettingView]


class ChangeSettings(RequestSchema):
    """All of these values together, or none."""

    values: dict[SettingName, Given] = Field(min_length=1, max_length=100)
    expected_version: int | None = Field(
        default=None, ge=0, description="refuse with 409 if the version is another by now"
    )


class ChangedValue(Schema):
    name: str
    old: JsonValue
    new: JsonValue


class Change(Schema):
    version: int
    time: float
    who: str
    undoes: int | None = Field(description="the version whose change this takes back")
    values: list[ChangedValue]
    applied_by: list[str] = Field(
        default=[], description="nodes that work with it; others follow when they are there again"
    )
