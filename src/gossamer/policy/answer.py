"""Checks that every answer of a policy passes before the native side gets it.

Takes: what a policy gave, and how many rows it was asked about. Gives: plain lists. NonsenseError says
what is wrong in one line; a policy that gives nonsense has not answered at all.
"""

import math
from collections.abc import Callable, Collection
from typing import Any, TypeVar

T = TypeVar("T")

REASON_LENGTH = 200
"""Characters of a reason that are kept; further ones are cut."""

_PLAIN = (list, tuple, str, bytes, bool, int, float, dict, type(None))

Reasons = str | Collection[str | None] | None
"""One reason for all rows, or one for each."""


class NonsenseError(Exception):
    """An answer that cannot be used."""


def numbers(
    name: str, values: Any, rows: int, *, least: float = 0.0, most: float = math.inf
) -> list[float | None]:
    """Finite numbers from `least` to `most`, or None, a value per row."""
    values = plain_values(values)
    if type(values) is list and len(values) == rows > 0 and set(map(type, values)) == {float}:
        # The usual case, without a call per value. A NaN anywhere makes the sum one.
        total = sum(values)
        if math.isfinite(total) and least <= min(values) and max(values) <= most:
            return values

    def one(value: Any) -> float:
        # A bool is an int to Python, and never meant as a number here.
        if isinstance(value, bool) or not _is_number(value):
            raise NonsenseError(f"{name}: a number expected, not {_shown(value)}")
        number = float(value)
        if not math.isfinite(number):
            raise NonsenseError(f"{name}: {number} is no number to use")
        if not least <= number <= most:
            raise NonsenseError(f"{name}: {number:g} is not from {least:g} to {most:g}")
        return number

    return column(name, values, rows, one)


def integers(name: str, values: Any, rows: int, *, most: int) -> list[int | None]:
    """Whole numbers from 0 to `most`, or None, a value per row."""

    def one(value: Any) -> int:
        if isinstance(value, bool) or not hasattr(value, "__index__"):
            raise NonsenseError(f"{name}: a whole number expected, not {_shown(value)}")
        number = int(value)
        if not 0 <= number <= most:
            raise NonsenseError(f"{name}: {number} is not from 0 to {most}")
        return number

    return column(name, values, rows, one)


def booleans(name: str, values: Any, rows: int) -> list[bool | None]:
    def one(value: Any) -> bool:
        # What numpy calls a truth value, in a list of Python's, is one too.
        if not isinstance(value, bool) and type(value).__name__ not in {"bool_", "bool"}:
            raise NonsenseError(f"{name}: true or false expected, not {_shown(value)}")
        return bool(value)

    return column(name, values, rows, one)


def reasons(values: Reasons, rows: int) -> list[str | None]:
    values = plain_values(values)
    if values is None or isinstance(values, str):
        return [values[:REASON_LENGTH] if values else None] * rows

    def one(value: Any) -> str:
        if not isinstance(value, str):
            raise NonsenseError(f"reason: a text expected, not {_shown(value)}")
        return value[:REASON_LENGTH]

    return column("reason", values, rows, one)


def column(name: str, values: Any, rows: int, one: Callable[[Any], T]) -> list[T | None]:
    """A value per row; None stays None: the native default for that row."""
    values = plain_values(values)
    if isinstance(values, str | bytes) or not hasattr(values, "__len__"):
        raise NonsenseError(f"{name}: a list with a value per row expected, not {_shown(values)}")
    if len(values) != rows:
        raise NonsenseError(f"{name}: {len(values)} values for {rows} rows")
    return [None if value is None else one(value) for value in map(plain_values, values)]


def plain_values(values: Any) -> Any:
    """Arrays and scalars of pyarrow, numpy, pandas and polars as Python's own; all else as it is."""
    if isinstance(values, _PLAIN):
        return values
    for name in ("to_pylist", "tolist", "to_list", "as_py"):
        convert = getattr(values, name, None)
        if callable(convert):
            return convert()
    return values


def json_hook(value: Any) -> Any:
    """For msgspec, where it meets what it does not know."""
    plain = plain_values(value)
    if plain is value:
        raise TypeError(f"{type(value).__name__} is no value of JSON")
    return plain


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) or (
        hasattr(value, "__float__") and not isinstance(value, str | bytes)
    )


def _shown(value: Any) -> str:
    text = repr(value)
    return f"{text[:40]}…" if len(text) > 40 else text
