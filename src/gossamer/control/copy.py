"""The control node's own copy of what the engine holds about the crawl: DIR/control/map.json.

The engine can be lost; the map, the settings, the wanted state and the seeds cannot be guessed. The
copy is written whole or not at all, and flushed.
"""

import os
from collections.abc import Set as AbstractSet
from pathlib import Path

import msgspec

from gossamer.cluster.map import PartitionMap, decode_map, encode_map
from gossamer.cluster.messages import Crawl, Wanted
from gossamer.errors import GossamerError


class Copied(msgspec.Struct):
    crawl: Crawl
    wanted: Wanted
    roots: list[list[str]]
    map: msgspec.Raw
    held: list[str] = []

    def partition_map(self) -> PartitionMap:
        return decode_map(bytes(self.map))


class Copy:
    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._file = directory / "map.json"
        self._seeds = directory / "seeds.jsonl"
        self._last = b""

    def load(self) -> Copied | None:
        try:
            data = self._file.read_bytes()
            self._last = data
            return msgspec.json.decode(data, type=Copied)
        except FileNotFoundError:
            return None
        except (OSError, msgspec.MsgspecError) as error:
            raise GossamerError(f"cannot read {self._file}: {error}") from error

    def save(
        self,
        crawl: Crawl,
        wanted: Wanted,
        held: AbstractSet[str],
        roots: list[list[str]],
        value: PartitionMap,
    ) -> None:
        whole = msgspec.Raw(encode_map(value))
        data = msgspec.json.encode(Copied(crawl, wanted, roots, whole, sorted(held)))
        if data != self._last:
            write_whole(self._file, data)
            self._last = data

    def add_seeds(self, urls: list[str]) -> None:
        """Seeds are kept before they are sent: they have no page that could be asked again."""
        self.directory.mkdir(parents=True, exist_ok=True)
        handle = os.open(self._seeds, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        with os.fdopen(handle, "ab") as file:
            file.write(b"".join(msgspec.json.encode(url) + b"\n" for url in urls))
            file.flush()
            os.fsync(file.fileno())

    def oldest(self) -> float | None:
        """When the oldest link was sent that the engine still held when we looked last."""
        try:
            return float((self.directory / "links.oldest").read_text())
        except (OSError, ValueError):
            return None

    def set_oldest(self, moment: float) -> None:
        write_whole(self.directory / "links.oldest", f"{moment}\n".encode())

    def sent(self) -> int:
        """How many seeds the engine has acknowledged."""
        try:
            return int((self.directory / "seeds.sent").read_text())
        except (OSError, ValueError):
            return 0

    def set_sent(self, number: int) -> None:
        write_whole(self.directory / "seeds.sent", f"{number}\n".encode())

    def seeds(self) -> list[str]:
        try:
            lines = self._seeds.read_bytes().splitlines()
        except FileNotFoundError:
            return []
        found = []
        for line in lines:
            try:
                found.append(msgspec.json.decode(line, type=str))
            except msgspec.MsgspecError:
                # The last line of a crash; it was never sent.
                continue
        return found


def write_whole(file: Path, data: bytes) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        young = file.with_name(f"{file.name}.new")
        with young.open("wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        young.replace(file)
    except OSError as error:
        raise GossamerError(f"cannot write {file}: {error.strerror}") from error
