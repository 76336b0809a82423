"""Several hosts at one address: by the simulated web's own log they share one gap.

The gap of a host is made far shorter than that of an address, so that nothing but the address holds
requests back; robots files count as any other request.
"""

import json
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest
from tests.crawl.crawling import Crawl

from gossamer.simweb import Options, serve, truth

HOSTS = 16
GAP = 0.020
LATENCY = 0.015
"""The least time that the server takes to answer: the gap runs from the end of a visit."""
BLUR = 0.003
"""The server notes a request when it has read it, so a little may be lost on the way."""
SETTINGS = {
    "politeness.delay": "1ms",
    "politeness.address_delay": f"{GAP * 1000:.0f}ms",
    "politeness.response_factor": "0",
    "alias.enabled": "false",
}


class Request(NamedTuple):
    time: float
    host: str
    path: str


class Crawled(NamedTuple):
    by_address: dict[str, list[Request]]
    addresses: dict[str, list[str]]
    """Of each host, by the name server."""


def requests(log: Path) -> list[Request]:
    found = []
    for line in log.read_text().splitlines():
        time, _, host, path, _ = line.split(" ")
        found.append(Request(int(time) / 1e6, host, path))
    return found


def used_addresses(out: Path) -> dict[tuple[str, str], str]:
    """Where each URL was asked for: needed only of hosts that have more than one address."""
    used = {}
    for file in sorted((out / "log").iterdir()):
        for line in map(json.loads, file.read_text().splitlines()):
            if line["status"]:
                parts = urlsplit(line["url"])
                path = f"{parts.path}?{parts.query}" if parts.query else parts.path
                used[line["host"], path] = line["ip"]
    return used


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    directory = tmp_path_factory.mktemp("addresses")
    options = Options(
        port=0,
        hosts=HOSTS,
        pages=340,
        host_skew=0.0,
        names=True,
        shared_address=0.7,
        multi_address=0.3,
        latency=f"uniform:{LATENCY * 1000:.0f}ms,{LATENCY * 2000:.0f}ms",
    )
    with serve(options, log=directory / "requests.log", dns_port=0) as web:
        servers = {"dns.servers": json.dumps([f"127.0.0.1:{web.dns_port}"])}
        sets = [
            part
            for name, value in (SETTINGS | servers).items()
            for part in ("--set", f"{name}={value}")
        ]
        usual = ["--scope", "any", "--allow-private", *sets]
        crawl = Crawl(web, directory / "out", *usual, environ={})
        assert crawl.run(seconds=300) == 0, crawl.said()
        model = truth(web.options).model
        addresses = {model.authority(host): model.addresses(host) for host in range(HOSTS)}
    used = used_addresses(directory / "out")
    by_address = defaultdict(list)
    for request in sorted(requests(directory / "requests.log")):
        of_host = addresses[request.host]
        address = of_host[0] if len(of_host) == 1 else used[request.host, request.path]
        assert address in of_host
        by_address[address].append(request)
    return Crawled(dict(by_address), addresses)


def test_there_are_addresses_whose_hosts_take_turns(crawled: Crawled) -> None:
    assert any(len(found) > 1 for found in crawled.addresses.values()), "no rotated name"
    turns = [
        address
        for address, visits in crawled.by_address.items()
        if sum(one.host != other.host for one, other in pairwise(visits)) > 20
    ]
    assert len(turns) >= 2, "choose another seed: too few hosts share an address"


def test_every_host_was_crawled(crawled: Crawled) -> None:
    asked = {request.host for visits in crawled.by_address.values() for request in visits}
    assert asked == set(crawled.addresses)


def test_no_gap_of_an_address_is_too_short(crawled: Crawled) -> None:
    gaps = [
        (later.time - earlier.time, address, earlier, later)
        for address, visits in crawled.by_address.items()
        for earlier, later in pairwise(visits)
    ]
    assert len(gaps) > 300
    assert [gap for gap in gaps if gap[0] < GAP + LATENCY - BLUR] == []
