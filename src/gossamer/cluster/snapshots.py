"""Snapshots of partitions in an object store: a directory, or S3 and the like.

Takes: a file that the native node wrote. Gives: the newest one back, checked. Guarantees: a snapshot
counts only when its manifest is there, which is written last and after the store has given the same
bytes back; names hold epoch and number, so an old owner never replaces what a newer one wrote; a
broken snapshot is an error that names it, never a silent start from less. A snapshot holds all of a
partition, or what changed since the one before it; then those from the last whole one on stay as
long as it does. Of the store no more is asked than to keep what it was given under a name: no
condition, no lock.

    CRAWL/store/9f86d081884c7d65                             which place this is
    CRAWL/partitions/00017/0000000004-00000012.snapshot      the bytes
    CRAWL/partitions/00017/0000000004-00000012.json          the manifest: size, SHA-256, position
"""

import asyncio
import contextlib
import hashlib
import secrets
from pathlib import Path
from typing import Any

import msgspec
import obstore
from obstore.store import ObjectStore

from gossamer.clock import SYSTEM, Clock
from gossamer.cluster.messages import PROTOCOL
from gossamer.cluster.store import open_store, refused, words
from gossamer.engine import Bucket
from gossamer.errors import ConflictError, SettingsError, SnapshotError

_PIECE = 1 << 20


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a snapshot without opening it."""

    version: int = PROTOCOL
    partition: int
    epoch: int
    number: int
    size: int
    sha256: str
    time: float
    node: str
    position: tuple[int, int]
    """Identity of the stream, and the sequence up to which it is covered."""
    before: tuple[str, ...] = ()
    """Those that must be taken first, from the last whole one on; none: this is a whole one."""
    about: dict[str, Any] = {}

    @property
    def name(self) -> str:
        return _name(self.epoch, self.number)


def _name(epoch: int, number: int) -> str:
    return f"{epoch:010d}-{number:08d}"


class Snapshots:
    """The snapshots of one crawl."""

    def __init__(self, url: str, crawl: str, clock: Clock = SYSTEM) -> None:
        self.url = url
        self._crawl = crawl
        self._clock = clock
        self._store = open_store(url)
        self._numbers: dict[int, int] = {}

    def _folder(self, partition: int) -> str:
        return f"{self._crawl}/partitions/{partition:05d}"

    async def check_belongs(self, bucket: Bucket) -> None:
        """All nodes of a crawl must mean the same place, or a failover would find nothing.

        The engine names the mark that must be here. Several nodes that come first at once each leave
        their own, and one of them gets its own named: the others find it here, if they are right.
        """
        while (entry := await bucket.get("store")) is None:
            marks = await self._marks()
            mark = marks[0] if marks else await self._leave_mark()
            with contextlib.suppress(ConflictError):
                await bucket.create("store", mark.encode())
                return
        if entry.value.decode() not in await self._marks():
            raise SettingsError(
                f"the snapshots in {self.url} are not those of this crawl: another node wrote to "
                "another place; give all nodes the same --snapshots"
            )

    async def _marks(self) -> list[str]:
        prefix = f"{self._crawl}/store/"
        try:
            return sorted(
                path.removeprefix(prefix)
                for path in await asyncio.to_thread(_list, self._store, prefix)
            )
        except Exception as error:
            if refused(error):
                raise SettingsError(
                    f"cluster.snapshots: cannot use {self.url}: {words(error)}"
                ) from error
            raise _failed(f"cannot read {self.url}", error) from error

    async def _leave_mark(self) -> str:
        mark = secrets.token_hex(8)
        try:
            await asyncio.to_thread(
                obstore.put, self._store, f"{self._crawl}/store/{mark}", mark.encode()
            )
        except Exception as error:
            raise _failed(f"cannot write to {self.url}", error) from error
        return mark

    async def put(
        self,
        partition: int,
        epoch: int,
        file: Path,
        *,
        node: str,
        about: dict[str, Any],
        before: tuple[str, ...] = (),
    ) -> Manifest:
        """Uploads and reads back; the snapshot counts when this returns."""
        if bool(about.get("changes")) != bool(before):
            raise SnapshotError(
                f"a snapshot of partition {partition} holds only changes and does not say since which"
                if not before
                else f"a whole snapshot of partition {partition} needs none before it"
            )
        newest = await self.latest(partition)
        if before and (newest is None or newest.name != before[-1]):
            raise SnapshotError(
                f"the changes of partition {partition} are those since snapshot {before[-1]}, but "
                f"{newest.name if newest else 'none'} is the newest in {self.url}; the next one "
                "will be a whole one"
            )
        if newest is not None and newest.epoch > epoch:
            raise SnapshotError(
                f"{self.url} has a snapshot of partition {partition} from epoch {newest.epoch}, "
                f"this one is of epoch {epoch}: it is of an older owner, or the place belongs to an "
                "earlier crawl; name another place with --snapshots"
            )
        digest, size = await asyncio.to_thread(_digest, file)
        manifest = Manifest(
            partition=partition,
            epoch=epoch,
            number=await self._next(partition),
            size=size,
            sha256=digest,
            time=self._clock.now(),
            node=node,
            position=tuple(about.get("position") or (0, 0)),
            before=before,
            about=about,
        )
        path = f"{self._folder(partition)}/{manifest.name}"
        try:
            await asyncio.to_thread(obstore.put, self._store, f"{path}.snapshot", file)
            await asyncio.to_thread(self._compare, f"{path}.snapshot", manifest)
            text = msgspec.json.encode(manifest)
            await asyncio.to_thread(obstore.put, self._store, f"{path}.json", text)
        except Exception as error:
            raise _failed(f"cannot write snapshot {path} to {self.url}", error) from error
        return manifest

    async def _next(self, partition: int) -> int:
        if partition not in self._numbers:
            known = await self.manifests(partition)
            self._numbers[partition] = max((name[1] for name in known), default=0)
        self._numbers[partition] += 1
        return self._numbers[partition]

    async def manifests(self, partition: int) -> list[tuple[int, int]]:
        """(epoch, number) of those that count, the oldest first."""
        found = []
        try:
            listing = await asyncio.to_thread(
                obstore.list_with_delimiter, self._store, prefix=self._folder(partition)
            )
        except Exception as error:
            raise _failed(f"cannot list {self._folder(partition)} in {self.url}", error) from error
        for entry in listing["objects"]:
            name = entry["path"].rpartition("/")[2]
            epoch, dash, number = name.removesuffix(".json").partition("-")
            if name.endswith(".json") and dash and epoch.isdigit() and number.isdigit():
                found.append((int(epoch), int(number)))
        return sorted(found)

    async def latest(self, partition: int) -> Manifest | None:
        known = await self.manifests(partition)
        return await self._manifest(partition, *known[-1]) if known else None

    async def _manifest(self, partition: int, epoch: int, number: int) -> Manifest:
        path = f"{self._folder(partition)}/{_name(epoch, number)}.json"
        try:
            data = await asyncio.to_thread(_read, self._store, path)
            manifest = msgspec.json.decode(data, type=Manifest)
        except msgspec.MsgspecError as error:
            raise SnapshotError(f"the manifest {path} in {self.url} is broken: {error}") from error
        except Exception as error:
            raise _failed(f"cannot read {path} in {self.url}", error) from error
        if manifest.version != PROTOCOL:
            raise SnapshotError(
                f"{path} in {self.url} is of version {manifest.version}, this program of {PROTOCOL}"
            )
        return manifest

    async def load(self, manifest: Manifest, directory: Path) -> list[Path]:
        """Downloads it and those before it, the first one first, and checks every byte."""
        files = []
        for name in manifest.before:
            epoch, _, number = name.partition("-")
            earlier = await self._manifest(manifest.partition, int(epoch), int(number))
            files.append(await self._load_one(earlier, directory))
        return [*files, await self._load_one(manifest, directory)]

    async def _load_one(self, manifest: Manifest, directory: Path) -> Path:
        path = f"{self._folder(manifest.partition)}/{manifest.name}.snapshot"
        file = directory / f"{manifest.partition}-{manifest.name}.load"
        try:
            await asyncio.to_thread(_fetch, self._store, path, file)
        except Exception as error:
            raise _failed(f"cannot read snapshot {path} in {self.url}", error) from error
        digest, size = await asyncio.to_thread(_digest, file)
        if (digest, size) != (manifest.sha256, manifest.size):
            raise SnapshotError(
                f"snapshot {path} in {self.url} is broken: {size} bytes with SHA-256 {digest[:16]}…, "
                f"but {manifest.size} with {manifest.sha256[:16]}… were written. Nothing was taken "
                "from it; bring the file back"
            )
        return file

    def _compare(self, path: str, manifest: Manifest) -> None:
        """What the store gives back is what was written: from here on links are let go of."""
        digest, size = hashlib.sha256(), 0
        for piece in obstore.get(self._store, path).stream(_PIECE):
            digest.update(piece)
            size += len(piece)
        if (digest.hexdigest(), size) != (manifest.sha256, manifest.size):
            raise SnapshotError(f"{path}: the store gave back other bytes than were written")

    async def remove_old(self, partition: int, keep: int) -> int:
        """Removes all but the newest `keep` and those that they need; gives how many."""
        known = await self.manifests(partition)
        kept = known[-max(keep, 1) :]
        needed = {
            name
            for epoch, number in kept
            for name in (await self._manifest(partition, epoch, number)).before
        }
        old = [row for row in known if row not in kept and _name(*row) not in needed]
        for epoch, number in old:
            path = f"{self._folder(partition)}/{_name(epoch, number)}"
            try:
                # The manifest first: without it the rest does not count.
                await asyncio.to_thread(obstore.delete, self._store, f"{path}.json")
                await asyncio.to_thread(obstore.delete, self._store, f"{path}.snapshot")
            except FileNotFoundError:
                continue
            except Exception as error:
                raise _failed(f"cannot remove {path} in {self.url}", error) from error
        return len(old)


class Archive:
    """Finished WARC and log files of all nodes, beside the snapshots.

    A page that a snapshot knows is not fetched again, so its record must outlive the disk it was
    written to: files are copied here before the snapshots that cover them count.
    """

    def __init__(self, url: str, crawl: str) -> None:
        self.url = url
        self._crawl = crawl
        self._store = open_store(url)

    async def put(self, node: str, kind: str, name: str, file: Path) -> None:
        path = f"{self._crawl}/files/{node}/{kind}/{name}"
        try:
            await asyncio.to_thread(obstore.put, self._store, path, file)
        except Exception as error:
            raise _failed(f"cannot copy {file} to {self.url}", error) from error

    async def names(self, node: str | None = None) -> dict[str, int]:
        """`NODE/KIND/FILE` and size of each file."""
        prefix = f"{self._crawl}/files/"
        where = f"{prefix}{node}/" if node else prefix
        try:
            rows = await asyncio.to_thread(_list, self._store, where)
            found = {name.removeprefix(prefix): size for name, size in rows.items()}
        except Exception as error:
            raise _failed(f"cannot list {where} in {self.url}", error) from error
        return found

    async def fetch(self, name: str, file: Path) -> None:
        path = f"{self._crawl}/files/{name}"
        try:
            await asyncio.to_thread(_fetch, self._store, path, file)
        except Exception as error:
            raise _failed(f"cannot read {path} in {self.url}", error) from error


# In threads, and not through the library's own awaitables: those hold on to Python's objects on threads
# of theirs, and a process that ends at that moment aborts.


def _read(store: ObjectStore, path: str) -> bytes:
    return bytes(obstore.get(store, path).bytes())


def _fetch(store: ObjectStore, path: str, file: Path) -> None:
    with file.open("wb") as out:
        for piece in obstore.get(store, path).stream(_PIECE):
            out.write(piece)


def _list(store: ObjectStore, prefix: str) -> dict[str, int]:
    return {
        row["path"]: row["size"] for batch in obstore.list(store, prefix=prefix) for row in batch
    }


def _digest(file: Path) -> tuple[str, int]:
    with file.open("rb") as content:
        digest = hashlib.file_digest(content, "sha256").hexdigest()
        return digest, content.tell()


def _failed(what: str, error: Exception) -> Exception:
    return error if isinstance(error, SnapshotError) else SnapshotError(f"{what}: {words(error)}")
