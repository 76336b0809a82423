"""Rules as the native node takes them: plain numbers, times in microseconds."""

import os
from collections.abc import Mapping
from pathlib import Path

from gossamer.errors import SettingsError
from gossamer.settings import CrawlSettings
from gossamer.settings.rules import Credentials, Rule, depth_range, status_range

Secrets = Mapping[str, list[tuple[str, str]]]
"""Headers with their values, by the name of the credentials."""


def read_secrets(settings: CrawlSettings) -> Secrets:
    """The values of all credentials, read from where they are. `SettingsError`: one is not there."""
    return {name: headers(row) for name, row in settings.credentials.items()}


def to_native(settings: CrawlSettings, secrets: Secrets | None) -> dict[str, object]:
    """The list, and the credentials it may name: with their values, or the names only."""
    return {
        "list": [native_rule(rule) for rule in settings.rule],
        "credentials": {
            name: secrets[name] if secrets is not None else [] for name in settings.credentials
        },
    }


def native_rule(rule: Rule) -> dict[str, object]:
    values = rule.model_dump(mode="json", exclude={"match"})
    match = rule.match.model_dump(mode="json")
    if rule.match.depth is not None:
        match["depth"] = depth_range(rule.match.depth)
    if rule.match.status:
        match["status"] = [status_range(text) for text in rule.match.status]
    for name, seconds in (("delay", rule.delay), ("refresh", rule.refresh)):
        if seconds is not None:
            values[name] = round(seconds * 1e6)
    if isinstance(rule.score, str):
        values["score"] = {"add": float(rule.score)}
    elif rule.score is not None:
        values["score"] = {"set": rule.score}
    return {**values, "match": match}


def headers(credentials: Credentials) -> list[tuple[str, str]]:
    """Headers with their values, read from where they are."""
    return [(name, secret(name, value)) for name, value in credentials.headers.items()]


def secret(name: str, value: str) -> str:
    """A header's value; `env:NAME` and `file:PATH` are read now."""
    if value.startswith("env:"):
        found = os.environ.get(value[4:])
        if found is None:
            raise SettingsError(f"credentials: the environment has no {value[4:]} for {name}")
        value = found
    elif value.startswith("file:"):
        try:
            value = Path(value[5:]).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise SettingsError(f"credentials: cannot read {value[5:]} for {name}") from error
    if not value or len(value) > 8000 or not value.isprintable():
        raise SettingsError(f"credentials: the value of {name} is no header value")
    return value
