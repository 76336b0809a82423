"""The engine in memory, on a loop whose time stands still while anybody works."""

import asyncio
from collections.abc import Callable, Mapping

import pytest

from gossamer.clock import SettableLoop
from gossamer.engine import memory


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    return {"memory": SettableLoop}


@pytest.fixture
async def server() -> memory.MemoryServer:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, SettableLoop)
    return memory.MemoryServer(loop.clock)


@pytest.fixture
async def engine(server: memory.MemoryServer) -> memory.MemoryEngine:
    return await memory.connect(server, "web", "test")
