"""How a setting is written, in words; and what is wrong with a value, in our words.

Nothing that a library says of a value reaches a user: it would name the library's types, not the setting's.
"""

import json
from typing import Any, Final

from gossamer.settings.rows import Row
from gossamer.settings.units import show_duration, show_size

_KINDS: Final = {
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "text": "text",
    "duration": "a time such as 10s, 250ms or 2h (without a unit: seconds)",
    "size": "a size such as 64MiB, 1GB or 512B (without a unit: bytes)",
    "list": 'a list such as ["a", "b"]; a single value is a list of one',
    "map": 'a table such as {"name": "value"}',
    "tables": "a list of tables",
}
_PATTERNS: Final = {
    "fetch.agent": "letters, - and _ without blanks",
    "cluster.name": "up to 64 letters, digits, - and _",
    "grouping": "host or site",
    "doors.order": "the name of a policy",
    "doors.refresh": "the name of a policy",
    "doors.hosts": "the name of a policy",
    "doors.pages": "names of policies",
}
"""Texts that have a form."""
_WRONG: Final = {
    "int": "a whole number expected",
    "float": "a number expected",
    "finite": "a finite number expected",
    "bool": "true or false expected",
    "string_type": "text expected",
    "string_unicode": "text expected",
    "string_pattern": "it has not the form of such a name",
    "string_too_short": "it must not be empty",
    "string_too_long": "it is too long: {max_length} characters at most",
    "list": "a list expected",
    "dict": "a table expected",
    "model": "a table of settings expected",
    "too_short": "at least {min_length} expected",
    "too_long": "at most {max_length} expected",
    "enum": "one of {expected} expected",
    "greater_than_equal": "at least {ge} expected",
    "greater_than": "more than {gt} expected",
    "less_than_equal": "at most {le} expected",
    "less_than": "less than {lt} expected",
    "missing": "it must be given",
}
"""By the beginning of the library's name for the fault; the first that fits counts."""
_SECRET: Final = ("fetch.headers", "credentials", "policy", "fetch.proxy")
"""Settings whose values may be passwords: they are not repeated."""
_LONGEST = 100


def written(row: Row) -> str:
    """How a value is written, with its range and unit: `a whole number from 1 to 64 (connections)`."""
    if row.choices is not None:
        return f"one of {', '.join(row.choices)}"
    text = _PATTERNS.get(row.name) or _KINDS[row.kind]
    limits = _limits(row)
    unit = f" ({row.unit})" if row.unit else ""
    return f"{text}{limits}{unit}"


def _limits(row: Row) -> str:
    low = None if row.minimum is None else _number(row, row.minimum)
    high = None if row.maximum is None else _number(row, row.maximum)
    comma = "," if row.kind in {"duration", "size"} else ""
    if low is not None and high is not None:
        return f"{comma} from {low} to {high}"
    if low is not None:
        return f"{comma} of at least {low}"
    return f"{comma} of at most {high}" if high is not None else ""


def _number(row: Row, value: float) -> str:
    if value == 0:
        return "0"
    if row.kind == "duration":
        return show_duration(value)
    if row.kind == "size":
        return show_size(int(value))
    return f"{value:g}" if value != int(value) else str(int(value))


def wrong(detail: Any, name: str, row: Row | None) -> str:
    """What is wrong with a value, from what the library found: the setting, what it takes, what came.

    `row`: of the setting itself; None for a part of its value.
    """
    fault: str = detail["type"]
    if fault == "value_error":
        # Of our own validators.
        said = str(detail["ctx"]["error"])
    elif row is not None and fault != "missing":
        said = f"{written(row)} expected"
    else:
        context = {key: _choices(value) for key, value in detail.get("ctx", {}).items()}
        form = next((text for key, text in _WRONG.items() if fault.startswith(key)), None)
        said = form.format_map(context) if form else "it does not take this value"
    secret = name.startswith(_SECRET)
    if secret or "got " in said or fault == "missing":
        return f"{name}: {said}"
    return f"{name}: {said}; got {_got(detail['input'], row)}"


def _got(value: object, row: Row | None) -> str:
    """What came. Of a time or a size that is out of its range the unit was read already."""
    if row is not None and isinstance(value, float) and row.kind == "duration":
        return show_duration(value)
    if row is not None and type(value) is int and row.kind == "size":
        return show_size(value)
    return shown_value(value)


def _choices(value: object) -> str:
    return str(value).replace("'", "").replace(" or ", ", ")


def shown_value(value: object) -> str:
    """A value as it would be written, harmless for a terminal and bounded."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    text = "".join(one if one.isprintable() else f"\\x{ord(one):02x}" for one in text[:_LONGEST])
    return f"{text}…" if len(text) >= _LONGEST else text
