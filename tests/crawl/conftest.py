"""A simulated web for each test, and crawls of it."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.crawl.crawling import MANY_COMMITS, Crawl

from gossamer.simweb import Options, SimWeb, serve

WEB = Options(hosts=40, pages=1500, host_skew=0.0, duplicates=0.05, port=0)
Starter = Callable[..., Crawl]


@pytest.fixture
def web_log(tmp_path: Path) -> Path:
    return tmp_path / "requests.log"


@pytest.fixture
def web(web_log: Path) -> Iterator[SimWeb]:
    with serve(WEB, log=web_log) as server:
        yield server


@pytest.fixture
def crawl(web: SimWeb, tmp_path: Path) -> Starter:
    """Makes a crawl that is not started yet; options that are given come last and so win."""

    def make(
        *options: str,
        delay: str = "0s",
        out: Path | None = None,
        environ: dict[str, str] | None = None,
    ) -> Crawl:
        usual = ["--scope", "any", "--allow-private", "--delay", delay, *MANY_COMMITS]
        return Crawl(web, out or tmp_path / "out", *usual, *options, environ=environ or {})

    return make
