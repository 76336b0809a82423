"""The map: which node owns which partition. Pure functions over one immutable value.

Guarantees: counts of nodes differ by at most one after `rebalance`; a node that joins moves about
P/(n+1) partitions and nothing else; a node that is taken out moves its own partitions only. `epoch`
grows with every change, and a partition's own epoch is the map's at the moment it got its owner.
"""

from collections.abc import Collection, Iterable, Mapping

import msgspec

from gossamer.cluster.messages import PROTOCOL
from gossamer.errors import VersionError

NOBODY = ""


class Row(msgspec.Struct, frozen=True):
    """`owner` has had the partition since `epoch`; it is moving `to` another node, or not."""

    owner: str = NOBODY
    epoch: int = 0
    to: str = NOBODY

    @property
    def settled(self) -> str:
        """Who has it when all moves are done."""
        return self.to or self.owner


class Assignment(msgspec.Struct, frozen=True):
    epoch: int
    rows: tuple[Row, ...]

    def owned(self, node: str) -> dict[int, Row]:
        return {number: row for number, row in enumerate(self.rows) if row.owner == node}

    def counts(self) -> dict[str, int]:
        """Partitions of each node when all moves are done."""
        found: dict[str, int] = {}
        for row in self.rows:
            if row.settled:
                found[row.settled] = found.get(row.settled, 0) + 1
        return found

    def nodes(self) -> set[str]:
        return {name for row in self.rows for name in (row.owner, row.to) if name}

    @property
    def moving(self) -> int:
        return sum(1 for row in self.rows if row.to)

    @property
    def ownerless(self) -> int:
        return sum(1 for row in self.rows if not row.owner)


def new_assignment(partitions: int) -> Assignment:
    return Assignment(0, (Row(),) * partitions)


def _changed(old: Assignment, changes: Mapping[int, Row]) -> Assignment:
    if not changes:
        return old
    rows = tuple(changes.get(number, row) for number, row in enumerate(old.rows))
    return Assignment(old.epoch + 1, rows)


def rebalance(old: Assignment, nodes: Collection[str]) -> Assignment:
    """Ownerless partitions are given out, and as few others moved as make the counts even.

    `nodes` are those that may own partitions from now on. Partitions of others are moved to them if
    their owner still lives; `take_out` first, if it does not.
    """
    if not nodes:
        return old
    names = sorted(nodes)
    epoch = old.epoch + 1
    settled = [row.settled if row.settled in nodes else NOBODY for row in old.rows]
    held: dict[str, list[int]] = {name: [] for name in names}
    for number, name in enumerate(settled):
        if name:
            held[name].append(number)
    targets = _targets(held, len(old.rows))
    # 1. What is too much is let go of, first what can be called off: a move not ended yet.
    for name in names:
        surplus = len(held[name]) - targets[name]
        if surplus > 0:
            moving_here = [n for n in held[name] if old.rows[n].owner != name]
            staying = [n for n in held[name] if old.rows[n].owner == name]
            for number in (moving_here + staying[::-1])[:surplus]:
                settled[number] = NOBODY
    # 2. What has nobody goes to whoever has too little; back to its owner where that is one.
    room = {name: targets[name] - settled.count(name) for name in names}
    free = [number for number, name in enumerate(settled) if not name]
    for number in free:
        owner = old.rows[number].owner
        if room.get(owner, 0) > 0:
            settled[number], room[owner] = owner, room[owner] - 1
    takers = [name for name in names for _ in range(room[name])]
    for number in free:
        if not settled[number]:
            settled[number] = takers.pop(0)
    changes = {}
    for number, row in enumerate(old.rows):
        name = settled[number]
        if not row.owner:
            changes[number] = Row(name, epoch)
        elif name == row.owner:
            if row.to:
                changes[number] = Row(row.owner, row.epoch)
        elif row.to != name:
            changes[number] = Row(row.owner, row.epoch, name)
    return _changed(old, changes)


def _targets(held: Mapping[str, list[int]], partitions: int) -> dict[str, int]:
    """An even share each; the odd ones go to those who have most already, so least is moved."""
    share, odd = divmod(partitions, len(held))
    by_size = sorted(held, key=lambda name: (-len(held[name]), name))
    return {name: share + (1 if place < odd else 0) for place, name in enumerate(by_size)}


def take_out(old: Assignment, dead: Collection[str], nodes: Collection[str]) -> Assignment:
    """Partitions of dead nodes have nobody any more; moves to them are called off."""
    changes = {}
    for number, row in enumerate(old.rows):
        if row.owner in dead:
            # A move whose owner died ends at once: the target takes the last snapshot.
            heir = row.to if row.to in nodes and row.to not in dead else NOBODY
            changes[number] = Row(heir, old.epoch + 1)
        elif row.to in dead:
            changes[number] = Row(row.owner, row.epoch)
    return _changed(old, changes)


def hand_over(old: Assignment, partitions: Iterable[int], node: str) -> Assignment:
    """Ends moves: `node` has given these partitions up after their snapshots."""
    changes = {
        number: Row(old.rows[number].to, old.epoch + 1)
        for number in partitions
        if old.rows[number].owner == node and old.rows[number].to
    }
    return _changed(old, changes)


def move(old: Assignment, partitions: Iterable[int], to: str) -> Assignment:
    """Asks for moves, by command."""
    changes = {}
    for number in partitions:
        row = old.rows[number]
        if not row.owner:
            changes[number] = Row(to, old.epoch + 1)
        elif row.settled != to:
            changes[number] = Row(row.owner, row.epoch, NOBODY if row.owner == to else to)
    return _changed(old, changes)


def merge_held(old: Assignment, held: Mapping[str, Iterable[tuple[int, int]]]) -> Assignment:
    """A copy that may be out of date, corrected by what living nodes say that they hold.

    The newest epoch of a partition is right. The result's epoch leaves room, so that epochs which
    were given out after the copy was made are not given out twice.
    """
    changes: dict[int, Row] = {}
    newest = old.epoch
    for node, rows in held.items():
        for number, epoch in rows:
            newest = max(newest, epoch)
            known = changes.get(number, old.rows[number])
            if epoch > known.epoch:
                changes[number] = Row(node, epoch)
    rows_now = tuple(changes.get(number, row) for number, row in enumerate(old.rows))
    return Assignment(newest + EPOCH_ROOM, rows_now)


EPOCH_ROOM = 1000


class _Stored(msgspec.Struct):
    """Names once, rows as numbers: 65,536 partitions fit into one value."""

    version: int
    epoch: int
    nodes: list[str]
    rows: list[tuple[int, int, int]]


def encode_assignment(value: Assignment) -> bytes:
    names = [NOBODY, *sorted(value.nodes())]
    place = {name: number for number, name in enumerate(names)}
    rows = [(place[row.owner], row.epoch, place[row.to]) for row in value.rows]
    return msgspec.json.encode(_Stored(PROTOCOL, value.epoch, names, rows))


def decode_assignment(data: bytes) -> Assignment:
    try:
        stored = msgspec.json.decode(data, type=_Stored)
        if stored.version != PROTOCOL:
            raise VersionError(
                f"the partition map is of version {stored.version}, this program of {PROTOCOL}"
            )
        names = stored.nodes
        rows = tuple(Row(names[owner], epoch, names[to]) for owner, epoch, to in stored.rows)
    except (msgspec.MsgspecError, IndexError) as error:
        raise VersionError(f"the partition map cannot be read: {error}") from error
    return Assignment(stored.epoch, rows)
