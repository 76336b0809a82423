"""Batches made by hand, as the native module makes them."""

from typing import Any


class Rows:
    """A `gossamer.policy.Batch` of given columns."""

    def __init__(self, door: str, columns: dict[str, list[Any]], number: int = 1) -> None:
        self.door = door
        self.number = number
        self._columns = columns

    @property
    def columns(self) -> list[str]:
        return list(self._columns)

    def __len__(self) -> int:
        return len(next(iter(self._columns.values()), []))

    def column(self, name: str) -> list[Any]:
        return list(self._columns[name])

    def __arrow_c_schema__(self) -> object:
        raise NotImplementedError

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]:
        raise NotImplementedError
