"""What a policy is given: a table of typed columns. The native module makes it."""

from typing import Any, Protocol


class Batch(Protocol):
    """Rows to judge. Only the columns that some policy of the door asked for are there."""

    @property
    def door(self) -> str: ...

    @property
    def number(self) -> int: ...

    @property
    def columns(self) -> list[str]: ...

    def __len__(self) -> int: ...

    def column(self, name: str) -> list[Any]:
        """A column as Python values, a value per row. KeyError: it was not asked for."""
        ...

    def __arrow_c_schema__(self) -> object: ...

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]:
        """The same memory for pyarrow, polars and others, without a copy."""
        ...
