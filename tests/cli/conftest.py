from pathlib import Path

import pytest
from tests.audit.crawls import Crawl, crawl


@pytest.fixture(scope="session")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    """A crawl of pages in all codings and charsets, with copies."""
    return crawl(
        tmp_path_factory.mktemp("exported") / "crawl",
        ("--delay", "0s"),
        hosts=8,
        pages=150,
        robots=1.0,
        crawl_delay=0.01,
        sitemaps=0.5,
        duplicates=0.1,
        compression=0.7,
        charsets=0.3,
        redirects=0.05,
        dead_links=0.02,
    )


@pytest.fixture
def copied(exported: Crawl, tmp_path: Path) -> Crawl:
    return exported.copy(tmp_path / "crawl")
