"""`Bucket` in memory: a stream with a subject per key, of which the last message counts."""

from collections.abc import Callable

from gossamer.engine.memory.kept import Kept, KeptStream
from gossamer.engine.memory.parts import Line, stream
from gossamer.engine.ports import End, Entry
from gossamer.errors import ConflictError


class MemoryBucket:
    def __init__(self, line: Line, name: str) -> None:
        self._line = line
        self.name = name
        self._stream = f"KV_{name}"
        self._prefix = f"$KV.{name}."

    async def exists(self) -> bool:
        streams = self._line.server.streams
        return await self._line.ask(f"look for bucket {self.name}", lambda: self._stream in streams)

    async def make(self, replicas: int) -> None:  # noqa: ARG002  there is one server
        streams = self._line.server.streams
        await self._line.change(
            f"create bucket {self.name}", lambda: streams.setdefault(self._stream, KeptStream())
        )

    async def get(self, key: str) -> Entry | None:
        what = f"read {self.name}/{key}"
        found = await self._line.ask(
            what, lambda: stream(self._line, self._stream, what).newest(self._prefix + key)
        )
        if found is None or found.deleted:
            return None
        return Entry(key, found.data, found.sequence)

    async def create(self, key: str, value: bytes) -> int:
        return await self._write(f"create {self.name}/{key}", key, value, _must_be_absent)

    async def update(self, key: str, value: bytes, revision: int) -> int:
        return await self._write(f"change {self.name}/{key}", key, value, _must_be(revision))

    async def put(self, key: str, value: bytes) -> int:
        return await self._write(f"set {self.name}/{key}", key, value, lambda _found: True)

    async def delete(self, key: str, revision: int) -> None:
        await self._write(f"delete {self.name}/{key}", key, b"", _must_be(revision), deleted=True)

    async def change(self, key: str, value: bytes, revision: int | None) -> int:
        if revision is None:
            return await self.create(key, value)
        return await self.update(key, value, revision)

    async def _write(
        self,
        what: str,
        key: str,
        value: bytes,
        permitted: Callable[[Kept | None], bool],
        *,
        deleted: bool = False,
    ) -> int:
        subject = self._prefix + key

        def write() -> int:
            kept = stream(self._line, self._stream, what)
            # Whoever listens hears of every try, also of one that comes too late.
            self._line.server.pass_on(subject, value)
            found = kept.newest(subject)
            if not permitted(found):
                raise ConflictError(f"{what}: somebody else was first")
            number = kept.append(subject, value, self._line.server.clock.now(), deleted=deleted)
            if found is not None:
                kept.remove(found.sequence)
            return number

        return await self._line.change(what, write, value)

    async def keys(self) -> list[str]:
        what = f"list {self.name}"
        found = await self._line.ask(
            what, lambda: stream(self._line, self._stream, what).subjects()
        )
        return sorted(subject.removeprefix(self._prefix) for subject in found)

    async def hints(self, wake: Callable[[], None], *but: str) -> End:
        silent = {self._prefix + key for key in but}

        def note(subject: str, _data: bytes) -> None:
            if subject not in silent:
                wake()

        return await self._line.listen(f"{self._prefix}>", note)


def _must_be_absent(found: Kept | None) -> bool:
    return found is None or found.deleted


def _must_be(revision: int) -> Callable[[Kept | None], bool]:
    return lambda found: (found.sequence if found is not None else 0) == revision
