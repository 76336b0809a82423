from pathlib import Path

import pytest
from tests.audit.crawls import Crawl, crawl


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    """A small crawl with gaps that mean something, robots rules, and pages of every sort."""
    return crawl(
        tmp_path_factory.mktemp("audited") / "crawl",
        robots=1.0,
        crawl_delay=0.1,
        throttle=0.1,
        retry_after=1,
        sitemaps=0.5,
        redirects=0.05,
        duplicates=0.2,
        dead_links=0.01,
        compression=0.5,
        charsets=0.2,
    )


@pytest.fixture
def planted(finished: Crawl, tmp_path: Path) -> Crawl:
    """A copy to plant violations in."""
    return finished.copy(tmp_path / "crawl")
