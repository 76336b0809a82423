"""Settings of policies: only values that stay the same in TOML, in JSON and back.

They are kept in `crawl.toml` for a resume, and as JSON for the nodes of a cluster. A date would come back
as text, and an infinite number or `null` not at all.
"""

import math
from typing import Annotated, Any

from pydantic import AfterValidator

_MOST = 2**63


def json_value(value: Any) -> Any:
    """The value, if it can be kept; ValueError says what cannot, and where below it that is."""
    _check(value, "")
    return value


def _check(value: Any, place: str) -> None:
    wrong = _wrong(value)
    if wrong is not None:
        raise ValueError(f"{place[1:]}: {wrong}" if place else wrong)
    if isinstance(value, dict):
        for key, inner in value.items():
            _check(key, f"{place}.{key!r}")
            _check(inner, f"{place}.{key}")
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            _check(inner, f"{place}.{number}")


def _wrong(value: Any) -> str | None:
    if value is None:
        return "null cannot be kept; leave it out"
    if isinstance(value, float) and not math.isfinite(value):
        return "a finite number expected"
    if isinstance(value, int) and not -_MOST <= value < _MOST:
        return "a whole number of 64 bits expected"
    if isinstance(value, str) and not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            return "half a character is no text"
    if not isinstance(value, bool | int | float | str | list | dict):
        return "a number, a text, true, false, a list or a table expected; write a date as text"
    return None


JsonValue = Annotated[Any, AfterValidator(json_value)]
