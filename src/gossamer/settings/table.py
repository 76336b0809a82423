"""The values of all settings, by name; and settings with some values changed.

Values are as in `crawl.toml`: a duration is `10s`, a size is `64MiB`.
"""

import re
from typing import Any

from gossamer.errors import SettingsError
from gossamer.settings.load import check, put
from gossamer.settings.model import CrawlSettings
from gossamer.settings.nearest import unknown_setting
from gossamer.settings.rows import fields, rows


def values(settings: CrawlSettings) -> dict[str, Any]:
    """Every setting's value, by its name."""
    dumped = settings.model_dump(mode="json")
    found = {}
    for name, _, _ in fields():
        value: Any = dumped
        for part in name.split("."):
            value = value[part]
        found[name] = value
    return found


_USER = re.compile(r"(?<=://)[^/@\s]+@")


def shown(settings: CrawlSettings) -> dict[str, Any]:
    """The values as those may see them who may only look: without passwords."""
    found = values(settings)
    found["fetch.headers"] = dict.fromkeys(found["fetch.headers"], "…")
    found["credentials"] = {
        name: {"headers": dict.fromkeys(row["headers"], "…")}
        for name, row in found["credentials"].items()
    }
    # A policy of anybody's may have a password among its settings.
    found["policy"] = {name: dict.fromkeys(table, "…") for name, table in found["policy"].items()}
    for name in ("fetch.proxy", "cluster.engine", "cluster.snapshots"):
        found[name] = _without_user(found[name])
    return found


def _without_user(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_user(one) for one in value]
    return _USER.sub("…@", value) if isinstance(value, str) else value


def changed(settings: CrawlSettings, new: dict[str, Any]) -> CrawlSettings:
    """The settings with some live ones changed; an error names every one that cannot be."""
    known = {row.name: row for row in rows()}
    for name in new:
        row = known.get(name)
        if row is None:
            raise SettingsError(unknown_setting(name))
        if not row.live:
            raise SettingsError(f"{name} is fixed when the crawl is started; it cannot change now")
    merged = settings.model_dump(mode="json")
    for name, value in new.items():
        put(merged, name, value)
    return check(merged, "settings")
