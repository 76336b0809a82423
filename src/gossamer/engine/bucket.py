"""A key-value bucket with compare-and-set.

Guarantees: `create` and `update` succeed for exactly one of those who try with the same revision;
`get` reads from the leader, never an older value from a follower.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import msgspec
import nats.js.errors
from nats.js.api import KeyValueConfig, StorageType
from nats.js.kv import KeyValue

from gossamer.engine.connection import Engine
from gossamer.engine.failures import Fault, explained
from gossamer.errors import ConflictError, EngineEmptyError

_NO_MESSAGE = 10037
"""JetStream's number for a subject of which nothing is kept."""


@dataclass(frozen=True)
class Entry:
    key: str
    value: bytes
    revision: int


class _Stored(msgspec.Struct):
    seq: int
    data: bytes = b""
    hdrs: bytes = b""


class _Read(msgspec.Struct):
    message: _Stored | None = None
    error: Fault | None = None


class Bucket:
    """One bucket; `make` creates it."""

    def __init__(self, engine: Engine, name: str) -> None:
        self._engine = engine
        self.name = name
        self._values = KeyValue(
            name=name, stream=f"KV_{name}", pre=f"$KV.{name}.", js=engine.stream, direct=False
        )

    async def exists(self) -> bool:
        try:
            with explained(f"look for bucket {self.name}"):
                await self._engine.stream.stream_info(f"KV_{self.name}")
        except EngineEmptyError:
            return False
        return True

    async def make(self, replicas: int) -> None:
        """Creates the bucket if it is not there."""
        with explained(f"create bucket {self.name}"):
            await self._engine.stream.create_key_value(
                KeyValueConfig(
                    bucket=self.name,
                    history=1,
                    storage=StorageType.FILE,
                    replicas=replicas,
                    direct=False,
                )
            )

    async def get(self, key: str) -> Entry | None:
        """The last value, or None. A bucket that is not there is an `EngineEmptyError`.

        Every node reads some keys several times a second, so not by way of the client, which takes four
        times as long and says the same of a missing key and of a missing bucket.
        """
        question = msgspec.json.encode({"last_by_subj": f"$KV.{self.name}.{key}"})
        with explained(f"read {self.name}/{key}"):
            data = await self._engine.request(f"$JS.API.STREAM.MSG.GET.KV_{self.name}", question)
            answer = msgspec.json.decode(data, type=_Read)
            if answer.error is not None:
                if answer.error.err_code == _NO_MESSAGE:
                    return None
                raise answer.error.raised()
        found = answer.message
        # What was deleted has left a mark.
        if found is None or b"KV-Operation:" in found.hdrs:
            return None
        return Entry(key, found.data, found.seq)

    async def create(self, key: str, value: bytes) -> int:
        """Sets a key that must not be there; gives the revision. `ConflictError`: it is there."""
        with explained(f"create {self.name}/{key}"):
            return await self._values.create(key, value)

    async def update(self, key: str, value: bytes, revision: int) -> int:
        """Replaces exactly this revision; gives the new one. `ConflictError`: it is another."""
        with explained(f"change {self.name}/{key}"):
            return await self._values.update(key, value, last=revision)

    async def put(self, key: str, value: bytes) -> int:
        """Sets a key whatever it was."""
        with explained(f"set {self.name}/{key}"):
            return await self._values.put(key, value)

    async def delete(self, key: str, revision: int) -> None:
        with explained(f"delete {self.name}/{key}"):
            try:
                await self._values.delete(key, last=revision)
            except nats.js.errors.APIError as error:
                if error.err_code in {10071, 10164}:
                    raise ConflictError(f"delete {self.name}/{key}: it was changed") from error
                raise

    async def change(self, key: str, value: bytes, revision: int | None) -> int:
        """`update`, or `create` where there was none."""
        if revision is None:
            return await self.create(key, value)
        return await self.update(key, value, revision)

    async def keys(self) -> list[str]:
        """The keys that were ever set and not deleted for good; from counters, not a scan."""
        with explained(f"list {self.name}"):
            info = await self._engine.stream.stream_info(
                f"KV_{self.name}", subjects_filter=f"$KV.{self.name}.>"
            )
        prefix = len(f"$KV.{self.name}.")
        return sorted(subject[prefix:] for subject in (info.state.subjects or {}))

    async def hints(self, wake: Callable[[], None], *but: str) -> Callable[[], Awaitable[None]]:
        """Calls whenever somebody tries to change a value: a reason to read, nothing more.

        `but`: keys whose changes are no reason.

        A plain subscription: cheaper than a watcher, with nothing to recreate when servers change;
        who misses a hint reads a little later anyway.
        """
        prefix = f"$KV.{self.name}."
        silent = {f"{prefix}{key}" for key in but}

        def note(subject: str, _data: bytes) -> None:
            if subject not in silent:
                wake()

        return await self._engine.listen(f"{prefix}>", note)
