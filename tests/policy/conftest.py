"""The test package, installed once for all tests of this folder."""

from pathlib import Path

import pytest
from tests.packages.installing import install


@pytest.fixture(scope="session")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install(tmp_path_factory.mktemp("site"))
