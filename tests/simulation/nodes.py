"""The native node's part in a cluster, in Python and without a web: what a member asks of it, it does.

It keeps partitions with a queue each, sends links to others through an outbox, remembers positions, writes
and takes snapshots, and visits nothing past its fence. What a disk would keep is in `Disk`.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
from tests.simulation.webs import Web, partition_of

from gossamer.clock import Clock
from gossamer.model.progress import Activity, Progress

Message = tuple[int, int, int, bytes]


class Visit(msgspec.Struct, frozen=True):
    page: int
    node: str
    epoch: int
    micros: int


class Part(msgspec.Struct):
    """A partition."""

    epoch: int
    queued: list[int] = []
    seen: set[int] = set()
    position: tuple[int, int] = (0, 0)
    unsaved: bool = True
    frozen: bool = False

    def take(self, page: int) -> None:
        if page not in self.seen:
            self.seen.add(page)
            self.queued.append(page)
            self.unsaved = True


@dataclass
class Disk:
    parts: dict[int, Part] = field(default_factory=dict)
    rows: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Links that were ever sent, or wait: number → when they were found, page."""
    safe: set[int] = field(default_factory=set)
    visits: int = 0


class PretendedNode:
    def __init__(self, name: str, disk: Disk, web: Web, clock: Clock, visits: list[Visit]) -> None:
        self.name = name
        self._disk = disk
        self._web = web
        self._clock = clock
        self._visits = visits
        self._fence: int | None = 0
        self._paused = self._stopped = False
        self._generation = 1
        self._on_its_way: set[int] = set()
        self.settings: list[str] = []
        self.roots: list[str] = []
        self.closed = False

    # --- crawling

    def step(self, _wait: float) -> bytes:
        """At most one visit."""
        assert not self.closed
        activity = Activity.RUNNING
        due = [part for part in self._disk.parts.values() if part.queued]
        if self._paused or self._stopped:
            activity = Activity.PAUSED
        elif not due:
            activity = Activity.FINISHED
        elif self._fence is not None and self._clock.micros() < self._fence:
            free = [part for part in due if not part.frozen]
            if free:
                self._visit(free[0])
        return msgspec.json.encode(self._progress(activity))

    def _visit(self, part: Part) -> None:
        page = part.queued.pop(0)
        self._visits.append(Visit(page, self.name, part.epoch, self._clock.micros()))
        self._disk.visits += 1
        part.unsaved = True
        for target in self._web.links[page]:
            home = self._disk.parts.get(partition_of(target))
            if home is not None and not home.frozen:
                home.take(target)
            else:
                self._put_out(target)

    def _put_out(self, page: int) -> None:
        self._disk.rows[len(self._disk.rows) + 1] = (round(self._clock.now() * 1e6), page)

    def _progress(self, activity: Activity) -> Progress:
        parts = self._disk.parts.values()
        return Progress(
            activity=activity,
            pages=self._disk.visits,
            bytes=0,
            urls_seen=sum(len(part.seen) for part in parts),
            urls_queued=sum(len(part.queued) for part in parts),
            visits=self._disk.visits,
            in_flight=0,
            hosts_known=0,
            hosts_active=0,
            hosts_waiting=0,
            hosts_set_aside=0,
            outcomes={},
            rss=0,
            disk=0,
            seconds=0.0,
        )

    def set_paused(self, paused: bool) -> None:
        self._paused = paused

    def stop(self, *, now: bool) -> None:
        self._stopped = True

    def set_fence(self, micros: int | None) -> None:
        self._fence = micros

    def set_settings(self, text: str) -> None:
        self.settings.append(text)

    def set_roots(self, urls: list[str]) -> None:
        self.roots = urls

    def take_host_decisions(self) -> tuple[list[tuple[str, str, str]], int]:
        return [], 0

    def redirected_seeds(self) -> list[tuple[str, int]]:
        return []

    def seeds_taken(self, _urls: list[str]) -> None:
        pass

    def close(self) -> None:
        self.closed = True

    # --- partitions

    def generation(self) -> int:
        return self._generation

    def partitions(self) -> list[tuple[int, int]]:
        return [(number, part.epoch) for number, part in self._disk.parts.items()]

    def frozen(self) -> list[int]:
        return [number for number, part in self._disk.parts.items() if part.frozen]

    def freeze(self, partitions: list[int]) -> None:
        self._generation += 1
        for number in partitions:
            self._disk.parts[number].frozen = True

    def under_way(self, _partition: int) -> int:
        return 0

    def gain(self, partition: int, epoch: int, snapshots: Sequence[Path] = ()) -> None:
        self._generation += 1
        held = self._disk.parts.get(partition)
        if held is None:
            held = Part(epoch)
            for file in snapshots:
                held = msgspec.json.decode(Path(file).read_bytes(), type=Part)
        held.epoch, held.frozen, held.unsaved = epoch, False, True
        self._disk.parts[partition] = held

    def lose(self, partition: int) -> None:
        self._generation += 1
        del self._disk.parts[partition]

    def changed(self, partition: int) -> bool:
        return self._disk.parts[partition].unsaved

    def snapshot(self, partition: int, path: str, _whole: bool = True) -> bytes:
        part = self._disk.parts[partition]
        Path(path).write_bytes(msgspec.json.encode(part))
        part.unsaved = False
        about = {
            "epoch": part.epoch,
            "position": part.position,
            "outbox": len(self._disk.rows),
            "changes": False,
        }
        return msgspec.json.encode(about)

    # --- links

    def positions(self) -> dict[int, tuple[int, int]]:
        return {number: part.position for number, part in self._disk.parts.items()}

    def receive(self, generation: int, messages: list[Message]) -> int:
        if generation != self._generation:
            return len(messages)
        for number, stream, sequence, payload in messages:
            part = self._disk.parts[number]
            if part.position[0] == stream and sequence <= part.position[1]:
                continue
            for page in msgspec.json.decode(payload, type=list[int]):
                assert partition_of(page) == number
                part.take(page)
            part.position, part.unsaved = (stream, sequence), True
        return len(messages)

    def outgoing(self, most: int) -> list[tuple[int, int, int, bytes]]:
        waiting = (
            number
            for number in self._disk.rows
            if number not in self._disk.safe and number not in self._on_its_way
        )
        some = list(itertools.islice(waiting, most))
        self._on_its_way.update(some)
        rows = [(number, self._disk.rows[number][1]) for number in some]
        return [(n, partition_of(page), 1, msgspec.json.encode([page])) for n, page in rows]

    def acknowledge(self, tokens: list[int]) -> None:
        self._on_its_way.difference_update(tokens)
        self._disk.safe.update(tokens)

    def give_back(self, tokens: list[int]) -> None:
        self._on_its_way.difference_update(tokens)

    def outbox(self) -> tuple[int, int, int]:
        waiting = [number for number in self._disk.rows if number not in self._disk.safe]
        newest = len(self._disk.rows)
        return len(waiting), newest, waiting[0] - 1 if waiting else newest

    def resend(self, since: int) -> int:
        again = {number for number, (found, _page) in self._disk.rows.items() if found >= since}
        self._disk.safe -= again
        return len(again)

    # --- addresses, which are nobody else's here

    def grants_wanted(self) -> list[tuple[int, bytes]]:
        return []

    def grants_answer(self, _asker: str, _request: bytes) -> bytes:
        return b""

    def grants_take(self, _answer: bytes) -> None:
        pass
