"""An engine and what can happen to it: the one in memory, and a real nats-server."""

import asyncio
import contextlib
import copy
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol

from tests.cluster.proxy import Proxy

from gossamer.clock import SettableLoop
from gossamer.engine import Access, Engine, LinkReader, Server, connect, memory
from gossamer.engine.jetstream.connection import JetStreamEngine
from gossamer.engine.jetstream.reader import JetStreamReader
from gossamer.engine.memory.kept import KeptStream
from gossamer.errors import EngineError


class World(Protocol):
    async def line(self) -> Engine:
        """Another process's line."""

    async def frail_line(self) -> tuple[Engine, Callable[[], None], Callable[[], None]]:
        """A line, what cuts it, and what mends it."""

    async def stop(self) -> None: ...
    async def start(self) -> None: ...

    async def wipe(self) -> None:
        """The engine must be stopped: its disk is lost."""

    async def remember(self) -> None:
        """What is kept now is what a power cut leaves."""

    async def power_cut(self) -> None:
        """Stops, and starts with what was remembered."""

    async def forget(self, line: Engine, reader: LinkReader) -> None:
        """The engine knows this reader no longer."""


class MemoryWorld:
    def __init__(self, loop: SettableLoop) -> None:
        self.server = memory.MemoryServer(loop.clock)
        self._remembered: dict[str, KeptStream] = {}

    async def line(self) -> Engine:
        return await memory.connect(self.server, "web", "test")

    async def frail_line(self) -> tuple[Engine, Callable[[], None], Callable[[], None]]:
        line = await memory.connect(self.server, "web", "test")
        return line, line.cut, line.mend

    async def stop(self) -> None:
        self.server.stop()

    async def start(self) -> None:
        self.server.start()

    async def wipe(self) -> None:
        self.server.wipe()

    async def remember(self) -> None:
        self._remembered = copy.deepcopy(self.server.streams)

    async def power_cut(self) -> None:
        self.server.stop()
        self.server.streams = self._remembered
        self.server.start()

    async def forget(self, line: Engine, reader: LinkReader) -> None:
        self.server.forget_readers()


class NatsWorld:
    def __init__(self, place: Path) -> None:
        self._place = place
        self._server = Server(place / "engine")
        # A server ends with the thread that started it.
        self._thread = ThreadPoolExecutor(1)
        self._lines: list[Engine] = []
        self._proxies = contextlib.ExitStack()

    async def _do(self, what: Callable[[], object]) -> None:
        await asyncio.get_running_loop().run_in_executor(self._thread, what)

    async def _open(self, port: int) -> Engine:
        line = await connect(Access([f"nats://127.0.0.1:{port}"]), "web", "test")
        self._lines.append(line)
        return line

    async def line(self) -> Engine:
        return await self._open(self._server.port)

    async def frail_line(self) -> tuple[Engine, Callable[[], None], Callable[[], None]]:
        proxy = self._proxies.enter_context(Proxy(self._server.port))
        return await self._open(proxy.port), proxy.cut, proxy.mend

    async def stop(self) -> None:
        await self._do(self._server.stop)

    async def start(self) -> None:
        await self._do(self._server.start)

    async def wipe(self) -> None:
        await self._do(lambda: shutil.rmtree(self._server.directory / "store"))

    async def remember(self) -> None:
        store = self._server.directory / "store"
        await self.stop()
        await self._do(lambda: shutil.copytree(store, self._place / "remembered"))
        await self.start()

    async def power_cut(self) -> None:
        await self.stop()
        await self.wipe()
        store = self._server.directory / "store"
        await self._do(lambda: shutil.copytree(self._place / "remembered", store))
        await self.start()

    async def forget(self, line: Engine, reader: LinkReader) -> None:
        assert isinstance(line, JetStreamEngine)
        assert isinstance(reader, JetStreamReader)
        await line.stream.delete_consumer(line.names.links_stream, reader._consumer)

    async def end(self) -> None:
        for line in self._lines:
            await line.close()
        self._proxies.close()
        await self.stop()
        self._thread.shutdown()


@contextlib.asynccontextmanager
async def world_of(loop: asyncio.AbstractEventLoop, place: Path) -> AsyncIterator[World]:
    if isinstance(loop, SettableLoop):
        yield MemoryWorld(loop)
        return
    real = NatsWorld(place)
    await real.start()
    try:
        yield real
    finally:
        await real.end()


async def eventually(
    ready: Callable[[], Awaitable[object]], what: str, seconds: float = 60.0
) -> None:
    """Until it is true; the engine may be away meanwhile."""
    end = asyncio.get_running_loop().time() + seconds
    while True:
        with contextlib.suppress(EngineError):
            if await ready():
                return
        assert asyncio.get_running_loop().time() < end, f"waited in vain: {what}"
        await asyncio.sleep(0.02)


async def rows(reader: LinkReader, count: int) -> list[tuple[int, bytes]]:
    """So many messages; one reading may give fewer of them."""
    found: list[tuple[int, bytes]] = []
    async with asyncio.timeout(30):
        while len(found) < count:
            found += [(partition, payload) for partition, _id, _seq, payload in await reader.read()]
    return found
