"""Three NATS servers with the configuration that is shipped; the one that leads everything is killed."""

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.cluster.clustering import LONG_LEASE, SLOW, Cluster
from tests.cluster.conftest import large
from tests.crawl.crawling import until
from tests.ports import free_ports

from gossamer.engine import Access, Engine, connect
from gossamer.engine.server import Server
from gossamer.errors import EngineError, EngineRefusedError
from gossamer.simweb import SimWeb

SHIPPED = Path(__file__).parents[2] / "deploy" / "nats" / "gossamer.conf"
TOKEN = "t0123456789"


class Three:
    def __init__(self, directory: Path) -> None:
        ports = free_ports(9)
        self.ports, self._watch, peers = ports[:3], ports[3:6], ports[6:]
        routes = ", ".join(f"nats-route://gossamer:{TOKEN}@127.0.0.1:{port}" for port in peers)
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
                "NATS_TOKEN": TOKEN,
                "NATS_ROUTES": f"[{routes}]",
            }
            with (directory / f"nats-{number}.log").open("wb") as log:
                self.processes.append(
                    subprocess.Popen(
                        [server, "-c", SHIPPED, "-m", str(self._watch[number])],
                        env=os.environ | environ,
                        stdout=log,
                        stderr=log,
                    )
                )
        for number, port in enumerate(self.ports):
            probe = Server(directory / "probe", port=port)
            until(probe._answers, f"server {number}", 60)

    @property
    def urls(self) -> list[str]:
        """With the token, which a node would have in a file."""
        return [f"nats://{TOKEN}@127.0.0.1:{port}" for port in self.ports]

    def leader(self) -> int | None:
        """The server that leads the others, by what the living say."""
        for process, port in zip(self.processes, self._watch, strict=True):
            if process.poll() is not None:
                continue
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/jsz", timeout=5) as answer:
                name = json.load(answer).get("meta_cluster", {}).get("leader")
            if name:
                return int(name.removeprefix("nats-"))
        return None

    def end(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait(10)


async def streams(line: Engine) -> dict[str, str]:
    """Who leads each stream; buckets are streams too."""
    names = json.loads(await line.request("$JS.API.STREAM.NAMES", b"")).get("streams") or []
    found = {}
    for name in names:
        info = json.loads(await line.request(f"$JS.API.STREAM.INFO.{name}", b""))
        found[name] = info.get("cluster", {}).get("leader", "")
    return found


async def let_lead(urls: list[str], server: str) -> set[str]:
    """Has each stream led by this server; gives their names."""
    line = await connect(Access(urls), "crawl", "test")
    wish = json.dumps({"placement": {"preferred": server}}).encode()
    try:
        async with asyncio.timeout(60):
            while True:
                # While a stream elects its leader nobody answers for it.
                with contextlib.suppress(EngineError):
                    found = await streams(line)
                    if set(found.values()) == {server}:
                        return set(found)
                    for name, leader in found.items():
                        if leader and leader != server:
                            await line.request(f"$JS.API.STREAM.LEADER.STEPDOWN.{name}", wish)
                await asyncio.sleep(0.05)
    finally:
        await line.close()


@pytest.fixture
def three(tmp_path: Path) -> Iterator[Three]:
    servers = Three(tmp_path)
    yield servers
    servers.end()


def test_the_shipped_configuration_survives_a_power_cut() -> None:
    assert "sync_interval: always" in SHIPPED.read_text()


@large
def test_the_leading_one_of_three_servers_killed(
    cluster: Callable[..., Cluster], three: Three, web: SimWeb
) -> None:
    one = cluster(
        "--set", "cluster.replicas=3", "--set", "cluster.lease=6s",
        delay=SLOW, engines=three.urls,
    )  # fmt: skip
    one.start()
    one.until_requests(300)
    # The hardest case: who leads the servers leads every stream too, so all is elected anew.
    leads = three.leader()
    assert leads is not None
    led = asyncio.run(let_lead(three.urls, f"nats-{leads}"))
    assert led >= {"crawl_links", "KV_crawl_map", "KV_crawl_nodes", "KV_crawl_crawl"}
    three.processes[leads].kill()
    three.processes[leads].wait(10)
    before = web.requests()
    one.urls = [url for number, url in enumerate(three.urls) if number != leads]
    one.until_requests(before + 300)
    one.hurry()
    one.until_done()
    one.check_union()
    until(lambda: three.leader() not in {None, leads}, "another leader", 60)


def test_no_fault_with_three_servers(
    cluster: Callable[..., Cluster], three: Three, web: SimWeb
) -> None:
    for token in ("", f"{TOKEN}x@"):
        url = f"nats://{token}127.0.0.1:{three.ports[0]}"
        with pytest.raises(EngineRefusedError):
            asyncio.run(connect(Access([url]), "crawl", "stranger"))
    one = cluster("--set", "cluster.replicas=3", *LONG_LEASE, engines=three.urls)
    one.start()
    one.until_done()
    assert one.check_union() == Counter()
