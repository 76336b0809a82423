"""Values with units: `10s`, `64MiB`. A bare number is refused where a unit could be meant."""

import math
import re
from typing import Annotated

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema

_DURATION_UNITS = {
    "us": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "m": 60.0,
    "min": 60.0,
    "h": 3600.0,
    "d": 86400.0,
    "w": 604800.0,
}
_SIZE_UNITS = {
    "B": 1,
    "kB": 10**3,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
    "TiB": 2**40,
}
_NUMBER_AND_UNIT = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*")


def _split(text: object, kind: str, example: str) -> tuple[float, str]:
    if isinstance(text, bool) or not isinstance(text, str | int | float):
        raise ValueError(f"{kind} expected, such as {example}; got {text!r}")
    match = _NUMBER_AND_UNIT.fullmatch(str(text))
    if match is None:
        raise ValueError(f"{kind} expected, such as {example}; got {text!r}")
    number = float(match[1])
    if not math.isfinite(number):
        raise ValueError(f"{kind} is too long to be one; such as {example}")
    return number, match[2]


def duration(text: object) -> float:
    """Seconds from text such as `250ms`, `1.5s`, `2h`. `0` needs no unit."""
    number, unit = _split(text, "a duration", "10s, 250ms or 2h")
    if not unit:
        if number == 0 or isinstance(text, float):
            return number
        raise ValueError(f"a duration needs a unit, such as 10s, 250ms or 2h; got {text!r}")
    if unit not in _DURATION_UNITS:
        known = ", ".join(_DURATION_UNITS)
        raise ValueError(f"unknown unit {unit!r} in {text!r}; durations take {known}")
    return number * _DURATION_UNITS[unit]


def size(text: object) -> int:
    """Bytes from text such as `64MiB`, `1.5GB`, `512B`. `0` needs no unit."""
    if isinstance(text, int) and not isinstance(text, bool):
        return text if text >= 0 else _refuse_negative(text)
    number, unit = _split(text, "a size", "64MiB, 1GB or 512B")
    if not unit:
        if number == 0:
            return 0
        raise ValueError(f"a size needs a unit, such as 64MiB, 1GB or 512B; got {text!r}")
    if unit not in _SIZE_UNITS:
        known = ", ".join(_SIZE_UNITS)
        raise ValueError(f"unknown unit {unit!r} in {text!r}; sizes take {known}")
    return int(number * _SIZE_UNITS[unit])


def _refuse_negative(number: int) -> int:
    raise ValueError(f"a size cannot be negative; got {number}")


def show_duration(seconds: float) -> str:
    """The shortest exact spelling that `duration` reads back."""
    for unit in ("w", "d", "h", "m", "s", "ms"):
        count = seconds / _DURATION_UNITS[unit]
        if count >= 1 and abs(count - round(count)) < 1e-9:
            return f"{round(count)}{unit}"
    return f"{seconds:.6f}".rstrip("0").rstrip(".") + "s"


def show_size(count: int) -> str:
    """The shortest exact spelling that `size` reads back."""
    for unit in ("TiB", "GiB", "MiB", "KiB"):
        if count and count % _SIZE_UNITS[unit] == 0:
            return f"{count // _SIZE_UNITS[unit]}{unit}"
    return f"{count}B"


Duration = Annotated[
    float,
    BeforeValidator(duration),
    PlainSerializer(show_duration, return_type=str),
    WithJsonSchema({"type": "string", "examples": ["10s", "250ms", "2h"]}),
]
Size = Annotated[
    int,
    BeforeValidator(size),
    PlainSerializer(show_size, return_type=str),
    WithJsonSchema({"type": "string", "examples": ["64MiB", "1GB"]}),
]
