"""`Bucket` on JetStream: a stream with a subject per key, of which the last message counts."""

from collections.abc import Awaitable, Callable

import msgspec
from nats.js.api import KeyValueConfig, StorageType
from nats.js.kv import KeyValue

from gossamer.engine.jetstream.failures import Fault, explained
from gossamer.engine.jetstream.line import Line, unanswered
from gossamer.engine.ports import End, Entry
from gossamer.errors import EngineEmptyError

_NO_MESSAGE = 10037
"""JetStream's number for a subject of which nothing is kept."""


class _Stored(msgspec.Struct):
    seq: int
    data: bytes = b""
    hdrs: bytes = b""


class _Read(msgspec.Struct):
    message: _Stored | None = None
    error: Fault | None = None


class JetStreamBucket:
    """`get` reads from the leader, never an older value from a follower."""

    def __init__(self, line: Line, name: str) -> None:
        self._line = line
        self.name = name
        self._stream = f"KV_{name}"
        self._values = KeyValue(
            name=name, stream=self._stream, pre=f"$KV.{name}.", js=line.stream, direct=False
        )

    async def exists(self) -> bool:
        try:
            with explained(f"look for bucket {self.name}"):
                await self._line.stream.stream_info(self._stream)
        except EngineEmptyError:
            return False
        return True

    async def make(self, replicas: int) -> None:
        with explained(f"create bucket {self.name}"):
            await self._line.stream.create_key_value(
                KeyValueConfig(
                    bucket=self.name,
                    history=1,
                    storage=StorageType.FILE,
                    replicas=replicas,
                    direct=False,
                )
            )

    async def get(self, key: str) -> Entry | None:
        """Every node reads some keys several times a second, so not by way of the client, which takes four
        times as long and says the same of a missing key and of a missing bucket.
        """
        question = msgspec.json.encode({"last_by_subj": f"$KV.{self.name}.{key}"})
        with explained(f"read {self.name}/{key}"):
            data = await self._line.call(f"$JS.API.STREAM.MSG.GET.{self._stream}", question)
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
        return await self._write(
            f"create {self.name}/{key}", lambda: self._values.create(key, value)
        )

    async def update(self, key: str, value: bytes, revision: int) -> int:
        return await self._write(
            f"change {self.name}/{key}", lambda: self._values.update(key, value, last=revision)
        )

    async def put(self, key: str, value: bytes) -> int:
        return await self._write(f"set {self.name}/{key}", lambda: self._values.put(key, value))

    async def delete(self, key: str, revision: int) -> None:
        async def delete() -> int:
            await self._values.delete(key, last=revision)
            return 0

        await self._write(f"delete {self.name}/{key}", delete)

    async def _write(self, what: str, write: Callable[[], Awaitable[int]]) -> int:
        try:
            with explained(what):
                return await write()
        except EngineEmptyError as error:
            raise await unanswered(self._line, self._stream, what) from error

    async def change(self, key: str, value: bytes, revision: int | None) -> int:
        if revision is None:
            return await self.create(key, value)
        return await self.update(key, value, revision)

    async def keys(self) -> list[str]:
        """From counters, not a scan."""
        with explained(f"list {self.name}"):
            info = await self._line.stream.stream_info(
                self._stream, subjects_filter=f"$KV.{self.name}.>"
            )
        prefix = len(f"$KV.{self.name}.")
        return sorted(subject[prefix:] for subject in (info.state.subjects or {}))

    async def hints(self, wake: Callable[[], None], *but: str) -> End:
        """A plain subscription: cheaper than a watcher, with nothing to recreate when servers change; who
        misses a hint reads a little later anyway.
        """
        prefix = f"$KV.{self.name}."
        silent = {f"{prefix}{key}" for key in but}

        def note(subject: str, _data: bytes) -> None:
            if subject not in silent:
                wake()

        return await self._line.listen(f"{prefix}>", note)
