"""A journal: things that happened, a line of JSON each, numbered, in a file only the owner reads.

Takes a thing with its number; guarantees that it is on the disk when `append` returns (unless it is a
copy that could be had again), and that a line cut by a power cut costs only that line. Holds the numbers and places of all lines in memory
(16 bytes each), so a page of them is read without a scan.
"""

import contextlib
import itertools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import BaseModel, ValidationError

T = TypeVar("T", bound=BaseModel)


class Journal(Generic[T]):
    """One file. Not for use by two processes."""

    def __init__(self, file: Path, kind: type[T], number: Callable[[T], int]) -> None:
        self._file = file
        self._kind = kind
        self._number = number
        self._places: list[tuple[int, int]] = []
        self._cut = False
        """The last line has no end: the next one begins with it. Who only reads writes nothing."""
        self.last = 0
        """The number of the last line; 0: none."""

    def open(self) -> None:
        """Learns what is there."""
        place, line = 0, b"\n"
        try:
            with self._file.open("rb") as file:
                for line in file:
                    self._learn(line, place)
                    place += len(line)
        except FileNotFoundError:
            return
        self._cut = not line.endswith(b"\n")

    def _learn(self, line: bytes, place: int) -> None:
        try:
            number = self._number(self._kind.model_validate_json(line))
        except ValidationError:
            return
        self._places.append((number, place))
        self.last = max(self.last, number)

    def append(self, thing: T, *, flush: bool = True) -> None:
        """Adds a line; without `flush` it is one that could be had again."""
        handle = os.open(self._file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            end = b"\n" if self._cut else b""
            place = os.fstat(handle).st_size + len(end)
            os.write(handle, end + thing.model_dump_json().encode() + b"\n")
            self._cut = False
            if flush:
                os.fsync(handle)
        finally:
            os.close(handle)
        number = self._number(thing)
        self._places.append((number, place))
        self.last = max(self.last, number)

    def before(self, number: int | None, limit: int) -> list[T]:
        """The last things with a smaller number, last first."""
        places = (
            place for found, place in reversed(self._places) if number is None or found < number
        )
        return self._read(list(itertools.islice(places, limit)))

    def get(self, number: int) -> T | None:
        places = [place for found, place in self._places if found == number]
        things = self._read(places[-1:])
        return things[0] if things else None

    def all(self) -> list[T]:
        """Everything, first first."""
        return self._read([place for _, place in self._places])

    def set_aside(self) -> None:
        """Begins anew; what there was is in a file that ends in `.old`."""
        with contextlib.suppress(FileNotFoundError):
            self._file.replace(self._file.with_name(f"{self._file.name}.old"))
        self._places, self.last, self._cut = [], 0, False

    def _read(self, places: list[int]) -> list[T]:
        if not places:
            return []
        things = []
        with self._file.open("rb") as file:
            for place in places:
                file.seek(place)
                things.append(self._kind.model_validate_json(file.readline()))
        return things
