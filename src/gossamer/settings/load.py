"""Reading and writing settings: TOML in, TOML out, every mistake named."""

import difflib
import tomllib
from pathlib import Path
from typing import Any

import tomli_w
from pydantic import ValidationError

from gossamer.errors import SettingsError
from gossamer.settings.model import CrawlSettings
from gossamer.settings.nearest import unknown_setting
from gossamer.settings.removed import without_removed
from gossamer.settings.rows import rows
from gossamer.settings.rules import Match, Rule, wrong_rule
from gossamer.settings.words import wrong


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
        raise SettingsError(
            f"cannot read {file}: {error.strerror}", do="name a file of settings, written as TOML"
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(
            f"{file} is not valid TOML: {error}", do="mend it, or name another file of settings"
        ) from error


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
        if of_rule:
            return _unknown_of_rule(place, name)
        inner = detail["input"]
        if len(place) == 1 and isinstance(inner, dict):
            # A table that there is not: its settings may stand in another one.
            return "; ".join(unknown_setting(f"{name}.{key}") for key in inner or [""])
        return unknown_setting(name)
    return wrong(detail, name, next((row for row in rows() if row.name == name), None))


def _unknown_of_rule(place: list[str], name: str) -> str:
    names = (Match if "match" in place[:-1] else Rule).model_fields
    near = difflib.get_close_matches(place[-1], names, n=1)
    hint = f" (did you mean {near[0]}?)" if near else f" (there are {', '.join(names)})"
    return f"unknown setting {name}{hint}"


def dump(settings: CrawlSettings) -> str:
    """The effective settings as TOML; absent values are left out."""
    return tomli_w.dumps(settings.model_dump(mode="json", exclude_none=True))
