"""A real engine for each test, and clusters of real processes on a simulated web."""

import dataclasses
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cluster.clustering import Cluster

from gossamer.engine import Access, Engine, Server, connect
from gossamer.simweb import Options, SimWeb, serve

WEB = Options(hosts=64, pages=2400, host_skew=0.0, duplicates=0.0, port=0)
LARGE = dataclasses.replace(WEB, pages=4000)
large = pytest.mark.parametrize("web", [LARGE], indirect=True, ids=["large"])
"""For tests in which leases run out, or the like, while the crawl goes on."""


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


@pytest.fixture
def web_log(tmp_path: Path) -> Path:
    return tmp_path / "requests.log"


@pytest.fixture
def web(request: pytest.FixtureRequest, web_log: Path) -> Iterator[SimWeb]:
    with serve(getattr(request, "param", WEB), log=web_log) as running:
        yield running


@pytest.fixture
def cluster(web: SimWeb, tmp_path: Path) -> Iterator[Callable[..., Cluster]]:
    """Makes clusters that are not started yet; all their processes end with the test."""
    made: list[Cluster] = []

    def make(*options: str, **more: Any) -> Cluster:
        one = Cluster(web, tmp_path / f"cluster{len(made)}", *options, **more)
        made.append(one)
        return one

    yield make
    for one in made:
        one.end()
