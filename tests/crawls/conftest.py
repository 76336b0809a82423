from collections.abc import Iterator

import pytest
from tests.crawls.paging import WEB

from gossamer.simweb import SimWeb, serve


@pytest.fixture(scope="module")
def web() -> Iterator[SimWeb]:
    with serve(WEB) as server:
        yield server
