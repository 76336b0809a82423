"""No faults: the union of the nodes' WARC files is the truth, and no page is there twice."""

import json
import re
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.cluster.clustering import LONG_LEASE, Cluster
from tests.crawl.crawling import until

from gossamer.engine.server import find_server, free_port

CONFIGURATION = """
listen: "127.0.0.1:{port}"
max_payload: 8MB
jetstream {{ store_dir: "{place}/store" }}
authorization {{ users: [{{ user: crawler, password: p, permissions: {rights} }}] }}
"""
SHIPPED = Path(__file__).parents[2] / "deploy" / "nats" / "gossamer.conf"


def listed_rights() -> dict[str, list[str]]:
    """What a crawl needs, by the comment in the shipped configuration."""
    lines = dict(
        re.findall(r"^#\s+(publish|subscribe):\s+(.*)$", SHIPPED.read_text(), re.MULTILINE)
    )
    return {kind: words.replace("NAME", "crawl").split() for kind, words in lines.items()}


@pytest.fixture
def engine_messages(tmp_path: Path) -> Path:
    return tmp_path / "engine.messages"


@pytest.fixture
def engine_url(tmp_path: Path, engine_messages: Path) -> Iterator[str]:
    """A server whose user may do what is listed, and no more."""
    port = free_port()
    configuration = tmp_path / "nats.conf"
    configuration.write_text(
        CONFIGURATION.format(port=port, place=tmp_path, rights=json.dumps(listed_rights()))
    )
    with engine_messages.open("wb") as file:
        process = subprocess.Popen(
            [find_server(), "-c", str(configuration)], stdout=file, stderr=file
        )
    try:
        until(lambda: "Server is ready" in engine_messages.read_text(), "the server", 60.0)
        yield f"nats://crawler:p@127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


def test_three_nodes_with_the_rights_that_are_listed(
    cluster: Callable[..., Cluster], engine_url: str, engine_messages: Path
) -> None:
    one = cluster(*LONG_LEASE, engines=[engine_url])
    one.start()
    summary = one.until_done()
    assert "Violation" not in engine_messages.read_text()
    stored = {name: one.stored(name) for name in ("n1", "n2", "n3")}
    assert one.check_union() == Counter()
    owned = [node.partitions for node in summary.nodes]
    assert sum(owned) == 32
    assert max(owned) - min(owned) <= 1
    assert summary.progress.pages == sum(map(len, stored.values()))
    assert summary.progress.urls_queued == 0
    assert min(map(len, stored.values())) > 100
