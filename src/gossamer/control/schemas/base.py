"""What all schemas share: unknown fields are refused, values do not change."""

import math
from typing import Any

from pydantic import BaseModel, ConfigDict, model_validator


class Schema(BaseModel):
    # An answer has all its fields: the description says so, also of those with a default.
    model_config = ConfigDict(
        extra="forbid", frozen=True, json_schema_serialization_defaults_required=True
    )


class RequestSchema(Schema):
    """What a request brings. Everything in it can be written down again, whatever its depth."""

    @model_validator(mode="before")
    @classmethod
    def _is_plain(cls, data: Any) -> Any:
        # Before any field, so that no refusal has to repeat what cannot be written.
        left = [data]
        while left:
            one = left.pop()
            if isinstance(one, str):
                # JSON can spell halves of a pair, `\ud800`; no file and no answer can hold them.
                if not one.isascii() and any("\ud800" <= letter <= "\udfff" for letter in one):
                    raise ValueError("a text holds half of a character, so it is no UTF-8")
            elif isinstance(one, float):
                if not math.isfinite(one):
                    raise ValueError("a number must be finite")
            elif isinstance(one, dict):
                left.extend(one)
                left.extend(one.values())
            elif isinstance(one, list):
                left.extend(one)
        return data
