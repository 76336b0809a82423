"""A simulated web and a crawl of it that serves the control API."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from tests.cluster.clustering import Cluster
from tests.control.serving import Served, served, until

from gossamer.clock import SettableLoop
from gossamer.simweb import Options, SimWeb, serve

IN_MEMORY = {"test_cluster_service.py"}
"""Tests of leases and confirmations: in memory, by a clock that moves when everything waits."""

WEB = Options(hosts=40, pages=20_000, host_skew=0.0, duplicates=0.05, port=0)


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    if item.path.name in IN_MEMORY:
        return {"memory": SettableLoop}
    return {"asyncio": asyncio.new_event_loop}


@pytest.fixture
def web_log(tmp_path: Path) -> Path:
    return tmp_path / "requests.log"


@pytest.fixture
def web(web_log: Path) -> Iterator[SimWeb]:
    with serve(WEB, log=web_log) as server:
        yield server


@pytest.fixture
def crawl(web: SimWeb, tmp_path: Path) -> Iterator[Served]:
    """A crawl that outlasts its test: 40 hosts, a gap of a quarter of a second."""
    with served(tmp_path / "out", web, "--delay", "250ms", "--stay") as running:
        yield running


@pytest.fixture(scope="module")
def quiet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A crawl for tests that only ask: it has some pages, and stays."""
    place = tmp_path_factory.mktemp("quiet")
    options = Options(hosts=10, pages=100, host_skew=0.0, port=0)
    with serve(options, log=place / "requests.log") as web:
        crawl = Served(place / "out", web)
        try:
            yield crawl.start("--delay", "0s", "--stay")
        finally:
            crawl.kill()


@pytest.fixture(scope="module")
def quiet_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The same by a control node and two crawl nodes."""
    place = tmp_path_factory.mktemp("quiet-cluster")
    with serve(Options(hosts=10, pages=100, host_skew=0.0, port=0)) as web:
        # No lease runs out here because the machine is busy.
        lease = ("--set", "cluster.lease=20s")
        cluster = Cluster(web, place / "out", *lease, expect=2, stay=True)
        crawl = Served(cluster.out, web)
        try:
            cluster.start("n1", "n2")
            until((crawl.control / "url").exists, "the API")
            until(lambda: crawl.ask("GET", "/readyz").status == 200, "a control node that is ready")
            until(lambda: crawl.get("/status")["pages"] >= 100, "some pages")
            yield crawl
        finally:
            cluster.end()


@pytest.fixture(scope="module", params=["quiet", "quiet_cluster"])
def asked(request: pytest.FixtureRequest) -> Served:
    """Either: what is served must not depend on which it is."""
    crawl: Served = request.getfixturevalue(request.param)
    return crawl
