"""Control nodes and engines that die, alone or with everything: nothing lost."""

import os
import shutil
import signal
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from tests.cluster.clustering import GOSSAMER, LONG_LEASE, SLOW, Cluster, check_gap
from tests.cluster.conftest import large
from tests.crawl.crawling import until

from gossamer.simweb import SimWeb

Maker = Callable[..., Cluster]


def test_restart_of_everything(cluster: Maker, web: SimWeb, web_log: Path) -> None:
    one = cluster(*LONG_LEASE, delay="100ms")
    one.start()
    one.until_requests(500)
    server = one.server
    assert server is not None
    assert server.pid is not None
    os.kill(server.pid, signal.SIGKILL)
    for process in [*one.nodes.values(), one.control]:
        assert process is not None
        process.kill()
    until(lambda: not server.running, "the end of the engine")
    server.start()
    one.start_control()
    for name in ("n1", "n2", "n3"):
        one.start_node(name)
    one.until_done()
    assert one.check_union() == Counter()

    check_gap(one, web_log)


@large
def test_the_engine_wiped(cluster: Maker, web: SimWeb) -> None:
    one = cluster(delay=SLOW, snapshot_every="1s")
    one.start()
    one.until_requests(300)
    # A receiver that reads nothing for a moment: what is on its way to it is lost with the engine.
    one.nodes["n3"].signal(signal.SIGSTOP)
    one.until_requests(web.requests() + 60)
    assert one.server is not None
    one.server.stop()
    shutil.rmtree(one.server.directory / "store")
    one.server.start()
    one.nodes["n3"].signal(signal.SIGCONT)
    one.until_status(
        lambda s: s.epoch >= 1000 and [n.state for n in s.nodes] == ["running"] * 3,
        "the map to be put back, and everybody to be in",
    )
    resent = subprocess.run(
        [*GOSSAMER, "nodes", "resend", "--since", "1h", "--engine", one.urls[0]],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert resent.returncode == 0, resent.stderr
    assert resent.stdout.count("rows of links are sent again") == 3
    one.hurry()
    one.until_done()
    one.check_union()
