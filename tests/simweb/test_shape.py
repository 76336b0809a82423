"""The shape of the web: sizes, links, long tails, PageRank; the same seed gives the same bytes."""

import hashlib
import subprocess
import sys

import networkx as nx
import numpy as np
import pytest
from tests.simweb.client import Client

from gossamer.engine.server import free_port
from gossamer.simweb import ALL_BEHAVIOURS, Options, Truth, serve, truth

SMALL = Options(seed=3, hosts=12, pages=600, port=0, **ALL_BEHAVIOURS | {"latency": ""})


def _digest(options: Options) -> tuple[str, int]:
    """Of the bodies of all pages of a fresh server."""
    total = hashlib.sha256()
    client = Client()
    with serve(options) as web:
        for url in truth(web.options).urls:
            response = client.get(url)
            total.update(f"{url} {response.status} ".encode() + response.body)
        port = web.port
    client.close()
    return total.hexdigest(), port


def test_same_seed_same_bytes_and_another_seed_others() -> None:
    # Four servers, one after the other, need the same port.
    options = SMALL.replace(change_rate=0.0, drip=0.0, port=free_port())
    first, port = _digest(options)
    assert _digest(options.replace(port=port))[0] == first
    assert _digest(options.replace(port=port, seed=4))[0] != first
    script = (
        "import sys; sys.path.insert(0, 'tests'); from simweb.test_shape import _digest, SMALL; "
        f"print(_digest(SMALL.replace(change_rate=0.0, drip=0.0, port={port}))[0])"
    )
    other = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True, timeout=100
    )
    assert other.stdout.strip() == first


@pytest.fixture(scope="module")
def large() -> Truth:
    return truth(Options(hosts=50, pages=50_000))


def test_page_counts_sum_up_and_have_a_long_tail(large: Truth) -> None:
    counts = [large.model.host_pages(host) for host in range(50)]
    assert sum(counts) == 50_000
    assert counts == sorted(counts, reverse=True)
    assert counts[0] > 10 * counts[-1]


def test_about_fifty_links_nine_in_ten_on_the_host(large: Truth) -> None:
    degree = np.diff(large.starts)
    assert 45 <= degree.mean() <= 52
    hosts = np.asarray(large.hosts)
    sources = np.repeat(hosts, degree)
    same = (sources == hosts[large.targets]).mean()
    assert 0.87 <= same <= 0.92


def test_every_page_is_reachable_and_not_deep(large: Truth) -> None:
    assert large.depth.min() == 0
    assert large.depth.max() <= 8


def test_in_links_follow_a_power_law(large: Truth) -> None:
    counts = np.bincount(large.targets)
    tail = counts[counts >= 40]
    assert len(tail) > 1_000
    # The maximum-likelihood exponent of a power-law tail (Clauset, Shalizi, Newman 2009).
    exponent = 1 + len(tail) / np.log(tail / 39.5).sum()
    assert 1.8 <= exponent <= 2.5


def test_links_are_distinct(large: Truth) -> None:
    for node in range(0, 50_000, 97):
        targets = large.targets[large.starts[node] : large.starts[node + 1]]
        assert len(set(targets.tolist())) == len(targets)


def test_pagerank_agrees_with_networkx() -> None:
    known = truth(SMALL.replace(port=8080))
    graph = nx.DiGraph()
    graph.add_nodes_from(range(len(known)))
    for node in range(len(known)):
        for target in known.targets[known.starts[node] : known.starts[node + 1]]:
            graph.add_edge(node, int(target))
    expected = nx.pagerank(graph, alpha=0.85, tol=1e-12, max_iter=500)
    for node, rank in expected.items():
        assert known.pagerank[node] == pytest.approx(rank, abs=1e-8)
    assert known.pagerank.sum() == pytest.approx(1.0)


def test_depth_agrees_with_networkx() -> None:
    known = truth(Options(hosts=5, pages=300))
    graph = nx.DiGraph()
    for node in range(len(known)):
        for target in known.targets[known.starts[node] : known.starts[node + 1]]:
            graph.add_edge(node, int(target))
    expected = nx.single_source_shortest_path_length(graph, 0)
    assert {node: int(depth) for node, depth in enumerate(known.depth)} == dict(expected)


def test_sizes_are_about_20_kb_with_a_long_tail() -> None:
    client = Client()
    with serve(Options(hosts=4, pages=1_500, port=0)) as web:
        sizes = [len(client.get(url).body) for url in truth(web.options).urls]
    client.close()
    assert 17_000 <= np.mean(sizes) <= 23_000
    assert np.median(sizes) < 0.92 * np.mean(sizes)
    assert max(sizes) > 4 * np.mean(sizes)
