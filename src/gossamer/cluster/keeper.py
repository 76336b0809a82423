"""The partitions that a node holds: taking them, saving them, handing them over.

Takes: the map. Guarantees: what the map gives us we hold, from the newest snapshot and the links
since; what it does not give us we give up; a partition that moves has no visit under way and nothing
unsent when the map names its new owner. A snapshot counts only when all links found until then are
acknowledged, the WARC files that it knows of are safe, and our lease still runs.
"""

import asyncio
import contextlib
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from gossamer._native import Node
from gossamer.clock import SYSTEM, Clock
from gossamer.cluster.archive import Copies
from gossamer.cluster.assignment import Assignment, hand_over
from gossamer.cluster.crawl_state import CrawlState
from gossamer.cluster.lease import Lease
from gossamer.cluster.snapshots import Manifest, Snapshots
from gossamer.engine import LinkStream
from gossamer.errors import ConflictError, EngineError, GossamerError, SnapshotError

GROUP = 64
"""Partitions handed over together."""

LOADS = 4
POLL = 0.02
RETRY = 2.0

Tell = Callable[[str, str], None]


class FencedError(GossamerError):
    """The lease ran out: nothing may be published any more."""

    remedy: ClassVar[str] = (
        "check that the node reaches the engine; its partitions move to others, and it joins anew"
    )


class Keeper:
    def __init__(
        self,
        node: Node,
        *,
        name: str,
        view: CrawlState,
        lease: Lease,
        snapshots: Snapshots,
        copies: Copies,
        stream: LinkStream,
        scratch: Path,
        tell: Tell,
        clock: Clock = SYSTEM,
    ) -> None:
        self._node = node
        self._name = name
        self._view = view
        self._lease = lease
        self._snapshots = snapshots
        self._copies = copies
        self._stream = stream
        self._scratch = scratch
        self._tell = tell
        self._clock = clock
        self._unsaved: set[int] = set()
        """Cut for a snapshot that was then not published; the node takes them for saved."""
        self._chains: dict[int, tuple[str, ...]] = {}
        """Published by us: the last whole snapshot of a partition, and those of changes after it."""
        self._busy = asyncio.Lock()
        """Held while snapshots are made, so that a hand-over and the clock do not mix."""
        self.held: dict[int, int] = {}
        self.done_epoch = -1
        self.troubles: dict[int, str] = {}
        self.saved_at: float | None = None

    async def drop_foreign(self, value: Assignment) -> None:
        """Gives up what the map does not (or no longer) give us, before anything is visited."""
        self.held = dict(await asyncio.to_thread(self._node.partitions))
        foreign = [
            partition
            for partition, epoch in self.held.items()
            if partition >= len(value.rows)
            or value.rows[partition].owner != self._name
            or value.rows[partition].epoch != epoch
        ]
        if foreign:
            self._tell("gave_up", f"{len(foreign)} partitions are not ours any more")
            await self._freeze(foreign)
            await self._lose(foreign)

    async def carry_out(self, value: Assignment) -> None:
        """Makes what is held what the map says, as far as that is possible now."""
        await self.drop_foreign(value)
        missing = [p for p, row in value.owned(self._name).items() if p not in self.held]
        if missing:
            await self._gain(value, missing)
        await self._call_off(value)
        moving = [p for p, row in value.owned(self._name).items() if row.to and p in self.held]
        for start in range(0, len(moving), GROUP):
            await self._hand_over(moving[start : start + GROUP])
            if self._view.map is not None and self._view.map.epoch != value.epoch:
                break
        now = self._view.map
        if now is not None and not self._open_work(now):
            self.done_epoch = now.epoch

    def _open_work(self, value: Assignment) -> bool:
        mine = value.owned(self._name)
        return (
            any(row.to for row in mine.values())
            or {p: row.epoch for p, row in mine.items()} != self.held
        )

    # --- taking

    async def _gain(self, value: Assignment, missing: list[int]) -> None:
        limit = asyncio.Semaphore(LOADS)

        async def one(partition: int) -> None:
            async with limit:
                try:
                    await self._gain_one(partition, value.rows[partition].epoch)
                    self.troubles.pop(partition, None)
                except (SnapshotError, EngineError) as error:
                    if self.troubles.get(partition) != str(error):
                        self._tell("partition_waits", f"partition {partition}: {error}")
                    self.troubles[partition] = str(error)

        await asyncio.gather(*(one(partition) for partition in missing))

    async def _gain_one(self, partition: int, epoch: int) -> None:
        manifest = await self._snapshots.latest(partition)
        place = self._scratch / f"{partition}.load"
        await asyncio.to_thread(place.mkdir, exist_ok=True)
        try:
            files = [] if manifest is None else await self._snapshots.load(manifest, place)
            await asyncio.to_thread(self._node.gain, partition, epoch, files)
        except ValueError as error:
            name = manifest.name if manifest else "none"
            raise SnapshotError(
                f"snapshot {name} of partition {partition} cannot be taken: {error}"
            ) from error
        finally:
            await asyncio.to_thread(shutil.rmtree, place, ignore_errors=True)
        self._chains.pop(partition, None)
        self.held[partition] = epoch

    # --- giving

    async def _freeze(self, partitions: list[int]) -> None:
        await asyncio.to_thread(self._node.freeze, partitions)
        for partition in partitions:
            while await asyncio.to_thread(self._node.under_way, partition):  # noqa: ASYNC110
                await asyncio.sleep(POLL)

    async def _lose(self, partitions: Iterable[int]) -> None:
        for partition in partitions:
            await asyncio.to_thread(self._node.lose, partition)
            self.held.pop(partition, None)
            self._chains.pop(partition, None)
            self._unsaved.discard(partition)

    async def _hand_over(self, group: list[int]) -> None:
        async with self._busy:
            await self._freeze(group)
            await self._save(group)
            await self._lose(group)
        while True:
            value = await self._view.read_map()
            if value is None:
                return
            try:
                await self._view.change_map(hand_over(value, group, self._name))
            except ConflictError:
                continue
            self._tell("handed_over", f"{len(group)} partitions")
            return

    async def _call_off(self, value: Assignment) -> None:
        """A frozen partition that stays after all goes on."""
        mine = value.owned(self._name)
        for partition in await asyncio.to_thread(self._node.frozen):
            if partition in mine and not mine[partition].to:
                await asyncio.to_thread(self._node.gain, partition, mine[partition].epoch)

    # --- saving

    async def save_changed(self) -> int:
        """Snapshots of all that changed since the last one; gives how many."""
        async with self._busy:
            changed = [
                partition
                for partition in sorted(self.held)
                if partition in self._unsaved
                or await asyncio.to_thread(self._node.changed, partition)
            ]
            await self._save(changed)
            self.saved_at = self._clock.monotonic()
            return len(changed)

    async def _save(self, partitions: list[int]) -> None:
        if not partitions:
            return
        cuts: list[tuple[int, Path, dict[str, Any]]] = []
        try:
            # 1. Cut all at commits. 2. What they know of is safe: links sent, files copied.
            # 3. Only then do they count. 4. Only then may the stream forget.
            for partition in partitions:
                file = self._scratch / f"{partition}.snapshot"
                # Changes are of use only after all that were cut before them.
                whole = partition in self._unsaved or partition not in self._chains
                self._unsaved.add(partition)
                cut = self._clock.now()
                data = await asyncio.to_thread(self._node.snapshot, partition, str(file), whole)
                cuts.append((partition, file, msgspec.json.decode(data) | {"cut": cut}))
            await self._links_safe(max(about.get("outbox", 0) for *_, about in cuts))
            await self._copies.bring_up_to_date()
            for partition, file, about in cuts:
                if self._is_ours_since(partition, about):
                    await self._publish(partition, file, about)
                await asyncio.to_thread(file.unlink, missing_ok=True)
        finally:
            for _partition, file, _about in cuts:
                await asyncio.to_thread(file.unlink, missing_ok=True)

    async def _links_safe(self, mark: int) -> None:
        while True:
            _waiting, _newest, acknowledged = self._node.outbox()
            if acknowledged >= mark:
                return
            await asyncio.sleep(POLL)

    def _is_ours_since(self, partition: int, about: dict[str, Any]) -> bool:
        """Whether it was not given up (nor taken anew) between its cut and now: links may wait long."""
        whole = not about["changes"]
        return self.held.get(partition) == about["epoch"] and (whole or partition in self._chains)

    def _check_lease(self) -> None:
        if self._lease.left <= 0:
            raise FencedError("the lease ran out; nothing was published")

    async def _publish(self, partition: int, file: Path, about: dict[str, Any]) -> Manifest:
        self._check_lease()
        epoch = int(about["epoch"])
        before = self._chains.get(partition, ()) if about["changes"] else ()
        manifest = await self._snapshots.put(
            partition, epoch, file, node=self._name, about=about, before=before
        )
        self._chains[partition] = (*before, manifest.name)
        self._unsaved.discard(partition)
        self._check_lease()
        stream, sequence = manifest.position
        if stream == self._stream.identity:
            # Not purged now is purged with the next snapshot.
            with contextlib.suppress(EngineError):
                await self._stream.purge(partition, sequence)
        with contextlib.suppress(SnapshotError):
            await self._snapshots.remove_old(partition, self._copies.keep)
        return manifest
