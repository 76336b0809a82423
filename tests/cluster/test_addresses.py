"""Hosts on different nodes that share an address keep its gap together, by the server's own log."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from tests.cluster.clustering import Cluster, logged

from gossamer.simweb import Options, SimWeb, serve, truth

HOSTS = 16
GAP = 0.030
BLUR = 0.003
"""The server notes a request when it has read it, so a little may be lost on the way."""
WEB = Options(port=0, hosts=HOSTS, pages=400, host_skew=0.0, names=True, shared_address=0.7)


@pytest.fixture
def web(web_log: Path) -> Iterator[SimWeb]:
    with serve(WEB, log=web_log, dns_port=0) as running:
        yield running


def test_gap_of_an_address_across_nodes(
    cluster: Callable[..., Cluster], web: SimWeb, web_log: Path
) -> None:
    one = cluster(
        "--set", f"politeness.address_delay={GAP * 1000:.0f}ms",
        "--set", f"dns.servers={json.dumps([f'127.0.0.1:{web.dns_port}'])}",
        delay="1ms",
    )  # fmt: skip
    one.start()
    one.until_done(300)
    one.check_union()
    model = truth(web.options).model
    address = {model.authority(host): model.addresses(host)[0] for host in range(HOSTS)}
    nodes: dict[str, set[str]] = defaultdict(set)
    for name in ("n1", "n2", "n3"):
        for visit in logged(one.directory(name)):
            if visit["ip"] is not None:
                nodes[address[visit["host"]]].add(name)
    assert sum(len(names) > 1 for names in nodes.values()) >= 2, "no address is shared by nodes"
    web.stop()
    moments: dict[str, list[int]] = defaultdict(list)
    for request in web_log.read_text().splitlines():
        time, _connection, host, _path, _status = request.split(" ")
        moments[address[host]].append(int(time))
    gaps = [
        ((later - earlier) / 1e6, where)
        for where, times in moments.items()
        for earlier, later in pairwise(sorted(times))
    ]
    assert len(gaps) > 300
    assert [gap for gap in gaps if gap[0] < GAP - BLUR] == []
