"""`stage.name=value` pairs of a command line."""

from typing import Any

import msgspec

from gossamer.errors import SettingsError


def assignments(texts: list[str]) -> dict[str, Any]:
    """By name; the value is read as JSON where it is JSON, else as text."""
    values: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise SettingsError(f"a setting is given as stage.name=value; got {text!r}")
        try:
            values[name.strip()] = msgspec.json.decode(value)
        except msgspec.DecodeError:
            values[name.strip()] = value.strip()
    return values
