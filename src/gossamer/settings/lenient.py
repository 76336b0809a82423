"""Values as people write them: one value where a list is taken, a number where a text is."""

from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel


def as_meant(annotation: Any, value: Any) -> Any:
    """The value in the form that the annotation asks for, where there is no doubt; else as it is."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return as_meant(inner[0], value)
    if origin in {Union, UnionType}:
        return value if value is None else as_meant(inner[0], value)
    if annotation is str and isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if origin is list and not _is_model(inner[0]):
        values = [value] if isinstance(value, str | int | float) else value
        return [as_meant(inner[0], one) for one in values] if isinstance(values, list) else value
    if origin is dict and isinstance(value, dict) and not _is_model(inner[1]):
        return {key: as_meant(inner[1], one) for key, one in value.items()}
    return value


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)
