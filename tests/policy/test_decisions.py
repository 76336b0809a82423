"""What host policies decide is told as events, standalone and in a cluster."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from tests.cluster.clustering import Cluster
from tests.control.serving import Served
from tests.crawl.crawling import until

from gossamer.simweb import Options, SimWeb, serve, truth

WEB = Options(hosts=6, pages=120, host_skew=0.0, port=0)


@pytest.fixture
def web() -> Iterator[SimWeb]:
    with serve(WEB) as server:
        yield server


@pytest.fixture
def left(web: SimWeb) -> str:
    """The host that is given up: one of those that the start page's is not."""
    hosts = dict.fromkeys(row.url.split("/")[2] for row in truth(web.options).rows())
    return next(host for host in hosts if host != web.url.split("/")[2])


@pytest.fixture
def config(tmp_path: Path, left: str, package: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setenv("PYTHONPATH", str(package), prepend=":")
    file = tmp_path / "policies.toml"
    doors = {"hosts": "lazy", "hosts_every": "100ms", "patience": "60s"}
    file.write_text(tomli_w.dumps({"doors": doors, "policy": {"lazy": {"leave": left}}}))
    return ["--config", str(file)]


def told(out: Path) -> list[dict[str, Any]]:
    """The events of kind `host`, from the file that outlives the process."""
    files = sorted(out.glob("**/events.jsonl"))
    rows = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    return [row for row in rows if row.get("kind") == "host_decided"]


def test_in_a_crawl_that_is_served(
    web: SimWeb, tmp_path: Path, left: str, config: list[str]
) -> None:
    crawl = Served(tmp_path / "out", web)
    try:
        crawl.launch("--delay", "50ms", *config)
        assert crawl.process is not None
        assert crawl.process.wait(100) == 0
    finally:
        crawl.kill()
    events = told(crawl.out)
    # Once, although the policy says so whenever it is asked.
    assert [event["text"] for event in events] == [f"{left}: given up (left by choice)"]
    assert events[0]["host"] == left


def test_in_a_cluster(web: SimWeb, tmp_path: Path, left: str, config: list[str]) -> None:
    cluster = Cluster(web, tmp_path / "cluster", *config, delay="50ms")
    try:
        cluster.start()
        cluster.until_done()
        until(lambda: told(cluster.out), "the event", 30)
    finally:
        cluster.end()
    words = f"{left}: given up (left by choice)"
    assert [event["text"] for event in told(cluster.out)] == [words]
