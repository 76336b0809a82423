"""Reading and writing settings: TOML in, TOML out, every mistake named."""

import difflib
import tomllib
from pathlib import Path
from typing import Any

import tomli_w
from pydantic import BaseModel, ValidationError

from gossamer.errors import SettingsError
from gossamer.settings.model import CrawlSettings
from gossamer.settings.removed import replacement, without_removed
from gossamer.settings.rules import Match, Rule, wrong_rule


def load(file: Path | None, overrides: dict[str, Any]) -> CrawlSettings:
    """Settings from a TOML file, with `overrides` (by dotted name) on top of it."""
    return _with(_read(file) if file is not None else {}, file, overrides)


def load_saved(file: Path, overrides: dict[str, Any] | None = None) -> CrawlSettings:
    """The same of a file that a crawl has saved, maybe of an earlier version."""
    return _with(without_removed(_read(file)), file, overrides or {})


def _read(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError(f"cannot read {file}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{file} is not valid TOML: {error}") from error


def _with(values: dict[str, Any], file: Path | None, overrides: dict[str, Any]) -> CrawlSettings:
    for name, value in overrides.items():
        put(values, name, value)
    return check(values, str(file) if file else "settings")


def put(values: dict[str, Any], name: str, value: object) -> None:
    """Sets `stage.setting` in a nested dictionary."""
    *tables, last = name.split(".")
    for table in tables:
        values = values.setdefault(table, {})
        if not isinstance(values, dict):
            raise SettingsError(f"{name}: {table} is not a table")
    values[last] = value


def check(values: dict[str, Any], where: str) -> CrawlSettings:
    """The typed settings, or an error that names each wrong one."""
    try:
        return CrawlSettings.model_validate(values)
    except ValidationError as error:
        lines = [_explain(detail, values) for detail in error.errors()]
        raise SettingsError(f"{where}: " + "; ".join(lines)) from error


def _explain(detail: Any, values: dict[str, Any]) -> str:
    place = [str(part) for part in detail["loc"]]
    of_rule = place[0] == "rule" and len(place) > 1
    name = wrong_rule(place, values) if of_rule else ".".join(place)
    if detail["type"] == "extra_forbidden":
        if gone := replacement(name):
            return gone
        near = difflib.get_close_matches(place[-1], _names_beside(place), n=1)
        hint = f" (did you mean {near[0]}?)" if near else ""
        return f"unknown setting {name}{hint}"
    message = detail["msg"].removeprefix("Value error, ")
    return f"{name}: {message} (got {detail['input']!r})"


def _names_beside(place: list[str]) -> list[str]:
    model: type[BaseModel] = CrawlSettings
    if place[0] == "rule":
        return list((Match if "match" in place[:-1] else Rule).model_fields)
    for part in place[:-1]:
        field = model.model_fields.get(part)
        if field is None or not isinstance(field.default, BaseModel):
            return []
        model = type(field.default)
    return list(model.model_fields)


def dump(settings: CrawlSettings) -> str:
    """The effective settings as TOML; absent values are left out."""
    return tomli_w.dumps(settings.model_dump(mode="json", exclude_none=True))
