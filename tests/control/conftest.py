"""A simulated web and a crawl of it that serves the control API."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.control.serving import Served, served

from gossamer.simweb import Options, SimWeb, serve

WEB = Options(hosts=40, pages=20_000, host_skew=0.0, duplicates=0.05, port=0)


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
