"""Three NATS servers with the configuration that is shipped; one of them is killed."""

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.cluster.clustering import Cluster
from tests.crawl.crawling import until

from gossamer.engine.server import Server, free_port
from gossamer.simweb import SimWeb

SHIPPED = Path(__file__).parents[2] / "deploy" / "nats" / "gossamer.conf"


class Three:
    def __init__(self, directory: Path) -> None:
        self.ports = [free_port() for _ in range(3)]
        peers = [free_port() for _ in range(3)]
        routes = ",".join(f"nats-route://127.0.0.1:{port}" for port in peers)
        server = Path(sys.executable).with_name("nats-server")
        self.processes = []
        for number, (port, peer) in enumerate(zip(self.ports, peers, strict=True)):
            store = directory / f"nats-{number}"
            store.mkdir()
            environ = {
                "NATS_NAME": f"nats-{number}",
                "NATS_LISTEN": f"127.0.0.1:{port}",
                "NATS_PEERS": f"127.0.0.1:{peer}",
                "NATS_STORE": str(store),
            }
            with (directory / f"nats-{number}.log").open("wb") as log:
                self.processes.append(
                    subprocess.Popen(
                        [server, "-c", SHIPPED, "--routes", routes],
                        env=os.environ | environ,
                        stdout=log,
                        stderr=log,
                    )
                )
        for number, port in enumerate(self.ports):
            probe = Server(directory / "probe", port=port)
            until(probe._answers, f"server {number}")

    @property
    def urls(self) -> list[str]:
        return [f"nats://127.0.0.1:{port}" for port in self.ports]

    def end(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait(10)


@pytest.fixture
def three(tmp_path: Path) -> Iterator[Three]:
    servers = Three(tmp_path)
    yield servers
    servers.end()


def test_the_shipped_configuration_survives_a_power_cut() -> None:
    assert "sync_interval: always" in SHIPPED.read_text()


@pytest.mark.timeout(200)
def test_one_of_three_servers_killed(
    cluster: Callable[..., Cluster], three: Three, web: SimWeb
) -> None:
    one = cluster(
        "--set", "cluster.replicas=3", "--set", "cluster.lease=6s",
        delay="100ms", engines=three.urls,
    )  # fmt: skip
    one.start()
    one.until_requests(500)
    # The one that leads the stream of links is as good as any: all are asked by somebody.
    three.processes[0].kill()
    three.processes[0].wait(10)
    before = web.requests()
    one.urls = three.urls[1:]
    one.until_requests(before + 300)
    one.until_done()
    one.check_union()


def test_no_fault_with_three_servers(
    cluster: Callable[..., Cluster], three: Three, web: SimWeb
) -> None:
    one = cluster("--set", "cluster.replicas=3", "--set", "cluster.lease=6s", engines=three.urls)
    one.start()
    one.until_done()
    assert one.check_union() == Counter()
