"""`stage.name=value` pairs, as on a command line or in a form."""

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
        values[name.strip()] = _read(value.strip())
    return values


def _read(text: str) -> Any:
    try:
        value = msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text
    # A number that would be written otherwise, such as 1.10, may be meant as text.
    return text if isinstance(value, int | float) and not _is_so(value, text) else value


def _is_so(value: float, text: str) -> bool:
    return isinstance(value, bool) or str(value) == text
