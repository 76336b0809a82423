"""Nodes that die, freeze, are cut off, come and go: nothing lost, no host visited by two at once."""

import asyncio
import itertools
import math
import signal
import time
from collections import Counter
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from tests.cluster.clustering import LONG_LEASE, SLOW, Cluster, check_gap, logged, stored
from tests.cluster.conftest import large
from tests.cluster.proxy import Proxy
from tests.crawl.crawling import until

from gossamer._native import host_key, partition
from gossamer.cluster.archive import bring_back
from gossamer.cluster.snapshots import Archive, Manifest, Snapshots
from gossamer.simweb import SimWeb

Maker = Callable[..., Cluster]


def visits(directory: Path) -> list[tuple[str, float, float, str]]:
    """(host, begin, end, url) of each visit that connected, from a node's own log."""
    rows = []
    for line in logged(directory):
        if line["ip"] is not None:
            begin = datetime.fromisoformat(line["time"]).timestamp()
            rows.append((line["host"], begin, begin + line["ms"] / 1000, line["url"]))
    return rows


def check_one_at_a_time(directories: list[Path]) -> None:
    """No host was visited by two nodes at once."""
    by_host: dict[str, list[tuple[float, float, int]]] = {}
    for number, directory in enumerate(directories):
        for host, begin, end, _url in visits(directory):
            by_host.setdefault(host, []).append((begin, end, number))
    shared = 0
    for host, rows in by_host.items():
        rows.sort()
        shared += len({number for *_times, number in rows}) > 1
        for (_b, end, one), (begin, _e, other) in itertools.pairwise(rows):
            # Clocks of the log are in milliseconds.
            assert one == other or begin >= end - 0.001, f"{host}: {one} and {other} at {begin}"
    assert shared > 0, "no host changed hands: the test shows nothing"


async def back_from_copies(cluster: Cluster, name: str) -> Path:
    archive = Archive(str(cluster.out / "snapshots"), "crawl")
    place = cluster.directory(f"{name}-back")
    for file in await archive.names(name):
        await bring_back(archive, file, place)
    return place


async def newest(cluster: Cluster, node: str) -> dict[int, Manifest]:
    """For each partition, the newest snapshot, where this node made it."""
    snapshots = Snapshots(str(cluster.out / "snapshots"), "crawl")
    found = {}
    for number in range(32):
        manifest = await snapshots.latest(number)
        if manifest is not None and manifest.node == node:
            found[number] = manifest
    return found


@large
def test_killed_and_its_disk_wiped(
    cluster: Maker, web: SimWeb, web_log: Path, tmp_path: Path
) -> None:
    one = cluster(delay=SLOW, snapshot_every="1s")
    one.start()
    one.until_requests(800)
    now = time.time()

    def enough() -> bool:
        """Some of them hold only what changed since the one before."""
        manifests = asyncio.run(newest(one, "n2")).values()
        late = [manifest for manifest in manifests if manifest.about["cut"] > now]
        return len(late) >= 5 and any(manifest.before for manifest in late)

    until(enough, "snapshots of n2 of the middle of the crawl", 60)
    one.nodes["n2"].kill()
    manifests = asyncio.run(newest(one, "n2"))
    cut = {number: manifest.about["cut"] for number, manifest in manifests.items()}
    wiped = tmp_path / "wiped"
    one.wipe("n2", wiped)
    one.until_status(
        lambda s: any(n.node == "n2" and n.state == "out" for n in s.nodes), "n2 to be taken out"
    )
    one.hurry()
    one.until_done()
    # What a snapshot knew of is in the copies beside the snapshots; the rest was fetched again.
    asyncio.run(back_from_copies(one, "n2"))
    one.check_union()
    again = set(one.stored("n1", "n3")) & set(stored(wiped))
    ends = {url: end for _host, _begin, end, url in visits(wiped)}

    def since_snapshot(url: str) -> bool:
        """Not in the last snapshot of its partition, or there was none of it."""
        known = cut.get(partition(host_key(url), 32))
        # What was stored and not even logged was not committed.
        return known is None or ends.get(url, math.inf) > known - 1.0

    assert [url for url in again if not since_snapshot(url)] == []
    assert len(again) < len(stored(wiped)) - 100, "hardly anything was kept by the snapshots"
    check_gap(one, web_log)


@large
def test_frozen_beyond_its_lease_and_woken(cluster: Maker, web: SimWeb, web_log: Path) -> None:
    one = cluster(delay=SLOW, snapshot_every="1s")
    one.start()
    one.until_requests(500)
    one.nodes["n2"].signal(signal.SIGSTOP)
    one.until_status(
        lambda s: any(n.node == "n2" and n.state == "out" and not n.partitions for n in s.nodes),
        "n2 to be taken out",
    )
    before = web.requests()
    one.until_requests(before + 150)
    one.nodes["n2"].signal(signal.SIGCONT)
    until(lambda: "joining anew" in one.nodes["n2"].said(), "n2 to join anew", 60)
    one.hurry()
    one.until_done()
    one.check_union()
    check_one_at_a_time([one.directory(name) for name in ("n1", "n2", "n3")])
    check_gap(one, web_log)


@large
def test_add_a_node_and_remove_a_node(cluster: Maker, web: SimWeb, web_log: Path) -> None:
    one = cluster(*LONG_LEASE, delay=SLOW, expect=2)
    one.start("n1", "n2")
    one.until_requests(200)
    one.start_node("n3")
    one.until_status(
        lambda s: s.moving == 0 and sorted(n.partitions for n in s.nodes) == [10, 11, 11],
        "partitions to be even",
    )
    one.ask("remove", {"node": "n1"})
    assert one.nodes["n1"].wait(60) == 0, one.said()
    one.until_status(
        lambda s: (
            s.moving == 0
            and {n.node: n.partitions for n in s.nodes if n.partitions} == {"n2": 16, "n3": 16}
        ),
        "all moves",
    )
    one.hurry()
    one.until_done()
    assert one.check_union() == Counter()
    check_one_at_a_time([one.directory(name) for name in ("n1", "n2", "n3")])
    check_gap(one, web_log)


@large
def test_cut_off_from_the_engine(cluster: Maker, web: SimWeb, web_log: Path) -> None:
    one = cluster(delay=SLOW, snapshot_every="1s")
    one.start_engine()
    one.start_control(web.url)
    assert one.server is not None
    with Proxy(one.server.port) as proxy:
        for name in ("n1", "n3"):
            one.start_node(name)
        one.start_node("n2", engine=f"nats://127.0.0.1:{proxy.port}")
        one.until_requests(400)
        # For a moment: nobody loses anything.
        proxy.cut()
        time.sleep(0.3)
        proxy.mend()
        one.until_requests(600)
        # For long: it stops, is taken out, and joins anew.
        proxy.cut()
        one.until_status(
            lambda s: any(n.node == "n2" and n.state == "out" for n in s.nodes), "n2 to be out"
        )
        proxy.mend()
        until(lambda: "joining anew" in one.nodes["n2"].said(), "n2 to join anew", 60)
        one.hurry()
        one.until_done()
    one.check_union()
    check_one_at_a_time([one.directory(name) for name in ("n1", "n2", "n3")])
    check_gap(one, web_log)
