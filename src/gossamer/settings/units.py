"""Values with units: `10s`, `64MiB`. A number without a unit is seconds, or bytes, as text and as a number."""

import math
import re
from collections.abc import Mapping
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


def _value(text: object, units: Mapping[str, float], kind: str, example: str) -> float:
    if isinstance(text, bool) or not isinstance(text, str | int | float):
        raise ValueError(f"{kind} expected, such as {example}")
    if isinstance(text, int | float):
        if not math.isfinite(text) or text < 0:
            raise ValueError(f"{kind} from 0 on expected, such as {example}")
        return text
    match = _NUMBER_AND_UNIT.fullmatch(text)
    if match is None:
        raise ValueError(f"{kind} expected, such as {example}")
    number, unit = float(match[1]), match[2]
    if not math.isfinite(number):
        raise ValueError(f"{kind} is too long to be one; such as {example}")
    if not unit:
        return number
    if unit not in units:
        raise ValueError(f"unknown unit {unit!r}; {kind} takes {', '.join(units)}")
    return number * units[unit]


def duration(text: object) -> float:
    """Seconds from text such as `250ms`, `1.5s`, `2h`, or from a number of seconds."""
    return float(_value(text, _DURATION_UNITS, "a time", "10s, 250ms or 2h"))


def size(text: object) -> int:
    """Bytes from text such as `64MiB`, `1.5GB`, `512B`, or from a number of bytes."""
    if isinstance(text, int) and not isinstance(text, bool) and text >= 0:
        # As it is: a large one would lose its last digits.
        return text
    if isinstance(text, str) and text.strip().isascii() and text.strip().isdigit():
        return int(text)
    return int(_value(text, _SIZE_UNITS, "a size", "64MiB, 1GB or 512B"))


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
