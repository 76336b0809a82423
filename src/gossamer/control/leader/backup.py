"""A control node's backup of what the engine holds about the crawl: DIR/control/map.json.

The engine can be lost; the assignment, the settings, the wanted state and the seeds cannot be guessed.
The backup is written whole or not at all, and flushed.
"""

import os
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import NamedTuple

import msgspec

from gossamer.cluster.assignment import Assignment, decode_assignment, encode_assignment
from gossamer.cluster.messages import Crawl, Wanted
from gossamer.disk import write_whole
from gossamer.errors import FileError


class Seed(NamedTuple):
    """A seed, and the redirects that led to it: 0 for one that was given."""

    url: str
    hops: int = 0


class BackedUp(msgspec.Struct):
    crawl: Crawl
    wanted: Wanted
    roots: list[list[str]]
    map: msgspec.Raw
    held: list[str] = []

    def assignment(self) -> Assignment:
        return decode_assignment(bytes(self.map))


class Backup:
    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._file = directory / "map.json"
        self._seeds = directory / "seeds.jsonl"
        self._last = b""

    def load(self) -> BackedUp | None:
        try:
            data = self._file.read_bytes()
            self._last = data
            return msgspec.json.decode(data, type=BackedUp)
        except FileNotFoundError:
            return None
        except (OSError, msgspec.MsgspecError) as error:
            raise FileError(f"cannot read {self._file}: {error}") from error

    def save(
        self,
        crawl: Crawl,
        wanted: Wanted,
        held: AbstractSet[str],
        roots: list[list[str]],
        value: Assignment,
    ) -> None:
        whole = msgspec.Raw(encode_assignment(value))
        data = msgspec.json.encode(BackedUp(crawl, wanted, roots, whole, sorted(held)))
        if data != self._last:
            _write(self._file, data)
            self._last = data

    def add_seeds(self, urls: list[str], hops: int = 0) -> None:
        """Seeds are kept before they are sent: they have no page that could be asked again."""
        lines = [[url, hops] if hops else url for url in urls]
        self.directory.mkdir(parents=True, exist_ok=True)
        handle = os.open(self._seeds, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        with os.fdopen(handle, "ab") as file:
            file.write(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))
            file.flush()
            os.fsync(file.fileno())

    def oldest(self) -> float | None:
        """When the oldest link was sent that the engine still held when we looked last."""
        try:
            return float((self.directory / "links.oldest").read_text())
        except (OSError, ValueError):
            return None

    def set_oldest(self, moment: float) -> None:
        _write(self.directory / "links.oldest", f"{moment}\n".encode())

    def sent(self) -> int:
        """How many seeds the engine has acknowledged."""
        try:
            return int((self.directory / "seeds.sent").read_text())
        except (OSError, ValueError):
            return 0

    def set_sent(self, number: int) -> None:
        _write(self.directory / "seeds.sent", f"{number}\n".encode())

    def seeds(self) -> list[Seed]:
        try:
            lines = self._seeds.read_bytes().splitlines()
        except FileNotFoundError:
            return []
        found = []
        for line in lines:
            try:
                one = msgspec.json.decode(line, type=str | Seed)
            except msgspec.MsgspecError:
                # The last line of a crash; it was never sent.
                continue
            found.append(Seed(one) if isinstance(one, str) else one)
        return found


def _write(file: Path, data: bytes) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(file, data)
    except OSError as error:
        raise FileError(f"cannot write {file}: {error.strerror}") from error
