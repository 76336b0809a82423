"""What all shapes share: unknown fields are refused, values do not change."""

from pydantic import BaseModel, ConfigDict


class Shape(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)
