"""The cluster's logic in one process: an engine in memory, and a clock that moves when all wait."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path

import pytest
from tests.simulation.crawls import Simulation

from gossamer.clock import SettableClock, SettableLoop
from gossamer.engine import Engine, memory
from gossamer.engine.memory import MemoryServer


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    return {"memory": SettableLoop}


@pytest.fixture
async def clock() -> SettableClock:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, SettableLoop)
    return loop.clock


@pytest.fixture
async def server(clock: SettableClock) -> MemoryServer:
    return MemoryServer(clock)


@pytest.fixture
async def engine(server: MemoryServer) -> Engine:
    return await memory.connect(server, "web", "test")


@pytest.fixture
async def crawl(
    server: MemoryServer, clock: SettableClock, tmp_path: Path
) -> AsyncIterator[Simulation]:
    one = Simulation(server, clock, tmp_path)
    yield one
    await one.end()
