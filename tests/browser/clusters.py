"""A real cluster whose control node is there and whose nodes are started one by one."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from tests.cluster.clustering import Cluster
from tests.control.serving import Served, until

from gossamer.simweb import SimWeb


class Steered(Cluster):
    """A cluster whose API is asked as that of a single crawl is."""

    served: Served


@contextlib.contextmanager
def clustered(web: SimWeb, tmp_path: Path) -> Iterator[Steered]:
    tokens = tmp_path / "tokens"
    tokens.mkdir(mode=0o700)
    options = ["--set", f"control.tokens={tokens}", "--set", "partitions=256"]
    cluster = Steered(web, tmp_path / "cluster", *options, delay="200ms")
    try:
        cluster.start_engine()
        control = cluster.start_control(web.url)
        until(lambda: "dashboard and API" in control.said(), "the API", 60)
        cluster.served = Served(cluster.out, None)
        cluster.served.tokens = tokens
        yield cluster
    finally:
        cluster.end()
