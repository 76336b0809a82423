"""Policies of a package outside the tree in a cluster: each node asks them about its own partitions."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from statistics import fmean

import pytest
import tomli_w
from tests.cluster.clustering import LONG_LEASE, Cluster
from tests.crawl.crawling import expected, until
from tests.packages.installing import install, path_with
from tests.policy.crawls import fields, number, requests

from gossamer.simweb import SimWeb


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install(tmp_path_factory.mktemp("site"))


@pytest.fixture
def installed(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All processes of the test find the package."""
    monkeypatch.setenv("PYTHONPATH", path_with(package))


def config(tmp_path: Path, settings: dict[str, object]) -> list[str]:
    file = tmp_path / "policies.toml"
    file.write_text(tomli_w.dumps(settings))
    return ["--config", str(file)]


ALL = {
    "doors": {
        "pages": ["marking", "second"], "order": "favoured", "refresh": "twice", "hosts": "lazy",
        "hosts_every": "200ms",
        # Exact sets: an answer counts however long a busy machine takes for it.
        "patience": "60s", "pages_patience": "60s",
    },
    "policy": {"twice": {"after": 1.0}},
}  # fmt: skip


@pytest.mark.usefixtures("installed")
def test_every_door_in_a_cluster(
    cluster: Callable[..., Cluster], web: SimWeb, web_log: Path, tmp_path: Path
) -> None:
    one = cluster(*LONG_LEASE, *config(tmp_path, ALL))
    one.start()
    summary = one.until_done()
    web.stop()
    wanted = expected(web)
    dropped = {url for url in wanted if number(url) % 5 == 4}
    twice = {url for url in wanted if number(url) % 3 == 0}
    times = Counter(
        f"http://{host}{path}" for host, rows in requests(web_log).items() for _, path in rows
    )
    assert {url for url in wanted if times[url] == 2} == twice
    assert {url for url in wanted if times[url] == 1} == wanted - twice
    assert set(one.stored()) == wanted - dropped
    marked = [fields(one.directory(name)) for name in one.nodes]
    assert all(marked)
    assert set().union(*marked) == wanted - dropped
    places: dict[bool, list[float]] = {True: [], False: []}
    for rows in requests(web_log).values():
        first = list(dict.fromkeys(path for _, path in rows))
        for place, path in enumerate(first):
            if path != "/":
                places[number(path) % 2 == 0].append(place / len(first))
    assert fmean(places[True]) < fmean(places[False]) - 0.1
    doors = summary.progress.doors
    assert set(doors) == {"pages", "order", "refresh", "hosts"}
    assert all(report.failures == 0 for report in doors.values())
    assert doors["pages"].rows >= len(wanted) + len(twice)


@pytest.mark.usefixtures("installed")
def test_bad_policies_in_a_cluster_stop_nothing(
    cluster: Callable[..., Cluster], tmp_path: Path
) -> None:
    settings = {
        "doors": {
            "pages": ["bad-pages"], "order": "bad-order", "refresh": "bad-refresh",
            "patience": "300ms", "pages_patience": "500ms",
        },
        "policy": {"bad-pages": {"how": "hang"}, "bad-order": {"how": "raise"}},
    }  # fmt: skip
    one = cluster(*LONG_LEASE, *config(tmp_path, settings))
    one.start()
    summary = one.until_done()
    assert one.check_union() == Counter()
    doors = summary.progress.doors
    assert doors["pages"].late > 0
    assert doors["order"].failed > 0
    assert doors["refresh"].failures > 0
    for name in one.nodes:
        said = one.nodes[name].said()
        words = "door=order policy=bad-order kind=raised"
        assert f'{words} error="RuntimeError: raised on purpose"' in said
        assert said.count("Traceback") == 1


def test_a_node_without_the_package_refuses_to_join(
    cluster: Callable[..., Cluster],
    tmp_path: Path,
    package: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The control node needs no policy: it asks none."""
    one = cluster(*LONG_LEASE, *config(tmp_path, {"doors": {"order": "favoured"}}), expect=1)
    one.start("n1")
    until(lambda: one.nodes["n1"].code is not None, "the node to end", 60)
    assert one.nodes["n1"].code == 2
    assert "doors.order: no policy favoured is installed" in one.nodes["n1"].said()
    assert one.control is not None
    assert one.control.code is None
    monkeypatch.setenv("PYTHONPATH", path_with(package))
    one.start_node("n2")
    one.until_done()
    assert one.check_union() == Counter()
