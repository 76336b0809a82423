"""Logs of a cluster: events, submissions of seeds and the audit log, the same on every control node.

What is told goes into this control node's file of unsent records, from there into the engine, which
numbers it, and from there into the files of every control node, this one included. So all have the same
records with the same numbers, whoever serves. Without an engine a record waits in that file.
"""

import asyncio
import contextlib
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, Self

from gossamer.control.unsent import Unsent, UnsentRecords
from gossamer.engine import Engine
from gossamer.engine.tasks import end
from gossamer.errors import EngineAwayError, EngineEmptyError, EngineError
from gossamer.logging import logger

_log = logger("records")

READ_EVERY = 1.0
AGAIN_AFTER = 0.3
PATIENCE = 3.0
"""Seconds that a record is waited for until it has come back with its number."""

TOGETHER = 64

KINDS = ("events", "submissions", "audit")


class LogCopy(Protocol):
    """A control node's own copy of the records of a kind."""

    @property
    def newest(self) -> int:
        """The number of the last record in it; 0: none."""

    async def take(self, number: int, body: bytes) -> None:
        """The next record. What cannot be understood is left out."""

    def set_aside(self) -> None:
        """The engine counts anew: the copy is kept under another name, and begins anew too."""


class ReplicatedLogs:
    """One control node's part in keeping the records."""

    def __init__(
        self,
        engine: Engine,
        directory: Path,
        *,
        leading: Callable[[], bool],
        replicas: Callable[[], int],
    ) -> None:
        self._engine = engine
        self._leading = leading
        self._replicas = replicas
        self._unsent = UnsentRecords(directory / "unsent.jsonl")
        self._streams = {kind: engine.records(kind) for kind in KINDS}
        self._copies: dict[str, LogCopy] = {}
        self._positions: dict[str, int] = {}
        self._acknowledged: dict[str, asyncio.Future[int]] = {}
        self._fresh: set[str] = set()
        self._to_send, self._to_read = asyncio.Event(), asyncio.Event()
        self._came = asyncio.Condition()
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        await asyncio.to_thread(self._unsent.open)
        self._to_send.set()
        names = self._engine.names
        await self._engine.listen(names.recorded, lambda _subject, _data: self._to_read.set())
        self._tasks = [asyncio.create_task(one) for one in (self._send(), self._read())]
        return self

    async def __aexit__(self, *_: object) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE if self._engine.connected else 0):
                while self._unsent.waiting():  # noqa: ASYNC110  the sender is at it
                    await asyncio.sleep(0.05)
        await end(self._tasks)

    # --- for those who have something to tell

    def post(self, kind: str, body: bytes, key: str | None = None) -> None:
        """Tells something that nobody waits for. With a key it may be told by several."""
        self._unsent.post(Unsent(key or new_key(), kind, body.decode()))
        self._to_send.set()

    async def begin(self, kind: str, body: bytes) -> str:
        """Notes durably that something is about to be done; gives the key to `keep` it with.

        `OSError`: it could not be noted.
        """
        one = Unsent(new_key(), kind, body.decode(), begun=True)
        await self._unsent.add(one)
        return one.key

    async def keep(self, kind: str, body: bytes, key: str | None = None) -> int | None:
        """Keeps a record durably; gives its number, or None if the engine has not told it yet."""
        one = Unsent(key or new_key(), kind, body.decode())
        future: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._acknowledged[one.key] = future
        try:
            await self._unsent.add(one)
            self._to_send.set()
            async with asyncio.timeout(PATIENCE):
                number = await future
                async with self._came:
                    await self._came.wait_for(lambda: self._positions.get(kind, 0) >= number)
        except TimeoutError:
            return future.result() if future.done() and not future.cancelled() else None
        finally:
            self._acknowledged.pop(one.key, None)
        return number

    def unsent(self, kind: str) -> list[bytes]:
        """What the engine does not have yet."""
        return [one.body.encode() for one in self._unsent.waiting(kind)]

    # --- for those who keep a copy

    def follow(self, kind: str, copy: LogCopy) -> None:
        """From now on this copy gets every record of its kind, once and in order."""
        self._positions[kind] = copy.newest
        self._copies[kind] = copy
        self._to_read.set()

    def complete(self, kind: str) -> bool:
        """Whether the copy was once as new as the engine."""
        return kind in self._fresh

    # --- what goes on by itself

    async def _send(self) -> None:
        while True:
            await self._to_send.wait()
            self._to_send.clear()
            try:
                failed = await self._send_waiting()
            except EngineError as error:
                failed = str(error)
            if failed:
                _log.warning("records are not sent yet", error=failed)
                await asyncio.sleep(AGAIN_AFTER)
                self._to_send.set()

    async def _send_waiting(self) -> str:
        failed = ""
        for one in self._unsent.waiting():
            try:
                number = await self._streams[one.kind].append(one.body.encode(), one.key)
            except EngineEmptyError as error:
                # In the order in which they happened: this one first, in a moment.
                await self._make(one.kind)
                return str(error)
            except EngineAwayError:
                raise
            except EngineError as error:
                # This one cannot be kept now; others may.
                failed = str(error)
                continue
            await self._unsent.drop(one.key)
            future = self._acknowledged.get(one.key)
            if future is not None and not future.done():
                future.set_result(number)
            self._to_read.set()
            with contextlib.suppress(EngineError):
                await self._engine.publish(self._engine.names.recorded, b"")
        return failed

    async def _read(self) -> None:
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(READ_EVERY):
                    await self._to_read.wait()
            self._to_read.clear()
            for kind, copy in list(self._copies.items()):
                try:
                    await self._read_new(kind, copy)
                except EngineEmptyError:
                    with contextlib.suppress(EngineError):
                        await self._make(kind)
                except (EngineError, OSError):
                    continue
                else:
                    self._fresh.add(kind)

    async def _read_new(self, kind: str, copy: LogCopy) -> None:
        stream, position = self._streams[kind], self._positions[kind]
        first, last = await stream.bounds()
        if last < position:
            _log.warning(
                "the engine counts anew; those so far are in a file ending in .old", kind=kind
            )
            await asyncio.to_thread(copy.set_aside)
            position = self._positions[kind] = 0
        start = max(first, position + 1)
        for begin in range(start, last + 1, TOGETHER):
            until = min(begin + TOGETHER - 1, last)
            for number, body in await stream.read(begin, until):
                await copy.take(number, body)
            async with self._came:
                self._positions[kind] = until
                self._came.notify_all()

    async def _make(self, kind: str) -> None:
        """The leading control node makes what is missing; numbers go on after those it knows."""
        if self._leading() and kind in self._copies:
            first = self._positions[kind] + 1
            await self._streams[kind].make(replicas=self._replicas(), first=first)


def new_key() -> str:
    return secrets.token_hex(12)
