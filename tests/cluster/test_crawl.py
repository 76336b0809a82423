"""No faults: the union of the nodes' WARC files is the truth, and no page is there twice."""

from collections import Counter
from collections.abc import Callable

from tests.cluster.clustering import LONG_LEASE, Cluster


def test_three_nodes(cluster: Callable[..., Cluster]) -> None:
    one = cluster(*LONG_LEASE)
    one.start()
    summary = one.until_done()
    stored = {name: one.stored(name) for name in ("n1", "n2", "n3")}
    assert one.check_union() == Counter()
    owned = [node.partitions for node in summary.nodes]
    assert sum(owned) == 32
    assert max(owned) - min(owned) <= 1
    assert summary.progress.pages == sum(map(len, stored.values()))
    assert summary.progress.urls_queued == 0
    assert min(map(len, stored.values())) > 100
