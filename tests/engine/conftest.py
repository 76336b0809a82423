"""A real server and a line to it, for each test."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from gossamer.engine import Access, Engine, Server, connect


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    one = Server(tmp_path / "engine")
    one.start()
    yield one
    one.stop()


@pytest.fixture
async def engine(server: Server) -> AsyncIterator[Engine]:
    one = await connect(Access([server.url]), "web", "test")
    yield one
    await one.close()
