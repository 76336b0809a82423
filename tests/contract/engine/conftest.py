"""Every test of this folder runs twice: on the engine in memory, in no time, and on a real nats-server."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path

import pytest
from tests.contract.engine.worlds import World, world_of

from gossamer.clock import SettableLoop
from gossamer.engine import Bucket, Engine, LinkStream


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    return {"memory": SettableLoop, "nats": asyncio.new_event_loop}


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with world_of(asyncio.get_running_loop(), tmp_path) as one:
        yield one


@pytest.fixture
async def engine(world: World) -> Engine:
    return await world.line()


@pytest.fixture
async def bucket(engine: Engine) -> Bucket:
    one = engine.bucket("web_map")
    await one.make(1)
    return one


@pytest.fixture
async def stream(engine: Engine) -> LinkStream:
    one = engine.links()
    await one.make(replicas=1, most_bytes=1 << 20)
    return one
