"""The control node of a real cluster: everything seen and changed from one place.

The crawls are slow until everything that is to be done while they go on is done.
"""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cluster.clustering import LONG_LEASE, SLOW, Cluster, logged
from tests.cluster.steering import Steered
from tests.control.serving import requests
from tests.crawl.crawling import until

from gossamer.control.client import Client, path_of
from gossamer.errors import GossamerError
from gossamer.simweb import Options, SimWeb, serve

WEB = Options(hosts=40, pages=4000, host_skew=0.0, duplicates=0.0, port=0)
QUIET = 1.5


@pytest.fixture
def web(web_log: Path) -> Iterator[SimWeb]:
    with serve(WEB, log=web_log) as running:
        yield running


@pytest.fixture
def steered(
    request: pytest.FixtureRequest, cluster: Callable[..., Cluster], tmp_path: Path
) -> Steered:
    return Steered(cluster, tmp_path, *getattr(request, "param", LONG_LEASE), delay=SLOW)


short_lease = pytest.mark.parametrize(
    "steered", [["--set", "cluster.lease=6s"]], indirect=True, ids=["short_lease"]
)
"""For tests in which one runs out."""


def running(status: dict[str, Any]) -> bool:
    return bool(status["nodes"] == 3 and status["pages"] > 100)


def test_pause_is_confirmed_by_all_and_the_web_is_silent(
    steered: Steered, web: SimWeb, web_log: Path
) -> None:
    cluster = steered.cluster
    cluster.start()
    steered.until(lambda api: running(api.get("/status")), "three nodes at work")
    asked = time.time()
    result = steered.client().post("/commands", {"command": "pause"})
    assert result["confirmed"], result
    assert [row["node"] for row in result["nodes"]] == ["n1", "n2", "n3"]
    steered.until(
        lambda api: [node["state"] for node in api.get("/nodes")] == ["paused"] * 3,
        "visits under way to end, by every node's own word",
    )
    before = web.requests()
    begun = time.monotonic()
    # The only way to see that nothing happens is to look for a while.
    until(lambda: time.monotonic() - begun > QUIET, "a while")
    assert web.requests() == before
    assert [row for row in requests(web_log) if row[0] > asked + 1.0] == []
    # The status is taken once a second.
    steered.until(lambda api: api.get("/status")["activity"] == "paused", "it to be told")
    result = steered.client().post("/commands", {"command": "resume"})
    assert result["confirmed"], result
    until(lambda: web.requests() > before + 50, "visits again")
    cluster.hurry()
    cluster.until_done()
    assert not cluster.check_union()


def test_a_setting_reaches_every_node_and_can_be_undone(steered: Steered) -> None:
    cluster = steered.cluster
    cluster.start()
    steered.until(lambda api: running(api.get("/status")), "three nodes at work")
    api = steered.client()
    change = api.patch("/settings", {"values": {"limits.depth": 7, "politeness.delay": "40ms"}})
    assert change["applied_by"] == ["n1", "n2", "n3"]
    versions = {node["settings_version"] for node in api.get("/nodes")}
    assert versions == {change["version"]}
    undone = api.post(f"/settings/changes/{change['version']}/undo")
    assert undone["applied_by"] == ["n1", "n2", "n3"]
    values = {row["name"]: row["value"] for row in api.get("/settings")["settings"]}
    assert values["limits.depth"] is None
    history = api.get("/settings/changes")
    assert [row["undoes"] for row in history] == [change["version"], None]
    with pytest.raises(GossamerError, match=r"scope\.include"):
        api.patch("/settings", {"values": {"scope.include": ["("]}})


def test_every_node_reranks_one_is_removed_and_nothing_is_lost(steered: Steered) -> None:
    cluster = steered.cluster
    cluster.start()
    steered.until(lambda api: running(api.get("/status")), "three nodes at work")
    api = steered.client()
    api.patch("/settings", {"values": {"frontier.order": "static"}})
    result = api.post("/commands", {"command": "rerank"})
    assert result["confirmed"], result
    assert [row["node"] for row in result["nodes"]] == ["n1", "n2", "n3"]
    steered.until(lambda api: api.get("/status")["reranked"] > 100, "URLs move")
    steered.until(
        lambda api: [e for e in api.get("/events")["events"] if "moved" in e["data"]], "its end"
    )
    # The partitions of n3 are handed over, in the order that holds since.
    api.post("/nodes/n3/remove")
    steered.until(lambda api: "n3" not in {n["id"] for n in api.get("/nodes")}, "n3 gone")
    cluster.hurry()
    cluster.until_done()
    assert not cluster.check_union()


def test_hosts_partitions_and_urls_of_all_nodes(steered: Steered, web: SimWeb) -> None:
    cluster = steered.cluster
    cluster.start()
    steered.until(lambda api: api.get("/hosts")["total"] >= 40, "all hosts known")
    api = steered.client()
    rows, cursor = [], None
    while True:
        page = api.get("/hosts", sort="name", limit=7, cursor=cursor)
        rows += page["hosts"]
        cursor = page["next"]
        if cursor is None:
            break
    names = [row["name"] for row in rows]
    assert names == sorted(names)
    for sort in ("queued", "pages", "errors", "last_visit", "next_visit"):
        found = api.get("/hosts", sort=sort, limit=40)
        assert {row["name"] for row in found["hosts"]} == set(names), sort
    assert len(names) == len(set(names)) == 40
    assert {row["node"] for row in rows} == {"n1", "n2", "n3"}
    account = api.get("/urls", url=web.url)
    assert account["node"] in {"n1", "n2", "n3"}
    assert account["last_visit"]["outcome"] == "fetched"
    assert [visit["outcome"] for visit in account["visits"]] == ["fetched"]
    host = path_of("hosts", names[3])
    assert api.post(host, {"action": "block"})["blocked"] is True
    assert api.post(host, {"action": "unblock"})["blocked"] is False
    owners = {row["node"] for row in api.get("/partitions")["partitions"]}
    assert owners == {"n1", "n2", "n3"}


@short_lease
def test_what_is_wrong_is_told(steered: Steered) -> None:
    """A lost node stays in view until it is removed; an engine that is away is not blamed on nodes."""
    cluster = steered.cluster
    cluster.start()
    steered.until(lambda api: running(api.get("/status")), "three nodes at work")
    cluster.nodes["n2"].kill()

    def kinds(api: Client) -> set[tuple[str, str | None]]:
        # How much room the machine has is not the point here.
        alerts = {(alert["kind"], alert["node"]) for alert in api.get("/alerts")}
        return {alert for alert in alerts if not alert[0].startswith("disk")}

    steered.until(lambda api: ("node_lost", "n2") in kinds(api), "the alert")
    api = steered.client()
    states = {node["id"]: node["state"] for node in api.get("/nodes")}
    assert states["n2"] == "lost"
    with pytest.raises(GossamerError, match="only be removed"):
        api.post(path_of("nodes", "n2", "pause"))
    steered.until(lambda api: _removed(api, "n2"), "its partitions to be others'")
    steered.until(lambda api: len(api.get("/nodes")) == 2 and not kinds(api), "it is forgotten")
    assert cluster.server is not None
    cluster.server.stop()
    steered.until(lambda api: kinds(api) == {("engine_away", None)}, "what is really wrong")


def _removed(api: Client, node: str) -> bool:
    try:
        api.post(path_of("nodes", node, "remove"))
    except GossamerError:
        return False
    return True


@short_lease
def test_another_control_node_takes_over(steered: Steered) -> None:
    cluster = steered.cluster
    cluster.start()
    first = cluster.control
    assert first is not None
    steered.until(lambda api: running(api.get("/status")), "three nodes at work")
    api = steered.client()
    change = api.patch("/settings", {"values": {"limits.doubted_visits": 777}})
    second = cluster.start_control(name="second")
    until(lambda: "standing by" in second.said(), "a second control node that waits", 60)
    first.kill()
    status = steered.until(
        lambda api: [one for one in api.get("/status")["control"] if one["id"] == "second"],
        "the second serves at the same address",
    )
    assert status
    steered.until(lambda api: api.get("/status")["control"][0]["leads"], "the second leads")
    api = steered.client()
    assert api.get("/settings")["version"] == change["version"]
    values = {row["name"]: row["value"] for row in api.get("/settings")["settings"]}
    assert values["limits.doubted_visits"] == 777
    assert api.get("/settings/changes")[0]["who"].startswith("operate")
    cluster.hurry()
    cluster.until_done()
    assert not cluster.check_union()


def test_a_node_that_is_held_back_stays_so_over_a_restart(steered: Steered) -> None:
    cluster = steered.cluster
    cluster.start()
    steered.until(lambda api: running(api.get("/status")), "three nodes at work")

    def node(api: Client) -> dict[str, Any]:
        return next((one for one in api.get("/nodes") if one["id"] == "n1"), {})

    steered.client().post("/nodes/n1/pause")
    steered.until(lambda api: node(api)["state"] == "paused", "n1 paused")
    pid = node(steered.client())["pid"]
    # Neither the node nor a control node has to remember it.
    control = cluster.control
    assert control is not None
    cluster.nodes["n1"].kill()
    before = len(logged(cluster.directory("n1")))
    control.kill()
    cluster.start_control()
    cluster.start_node("n1")
    steered.until(
        lambda api: node(api).get("pid") not in {None, pid} and node(api).get("state") == "paused",
        "n1 back, paused",
    )
    others = steered.client().get("/status")["visits"]
    steered.until(lambda api: api.get("/status")["visits"] > others + 50, "the others go on")
    assert len(logged(cluster.directory("n1"))) <= before
    assert node(steered.client())["partitions"] > 0
    steered.client().post("/nodes/n1/resume")
    steered.until(lambda api: node(api).get("state") == "running", "n1 running")
    cluster.hurry()
    cluster.until_done()
    assert not cluster.check_union()


def test_partitions_have_their_figures_as_soon_as_there_are_pages(steered: Steered) -> None:
    steered.cluster.start()
    steered.until(lambda api: api.get("/status")["pages"] > 0, "the first page")
    api = steered.client()
    rows = api.get("/partitions")["partitions"]
    assert sum(row["hosts"] for row in rows) > 0
    assert sum(row["queued"] for row in rows) > 0
    # By every owner that has hosts, and about what the nodes say themselves.
    steered.until(
        lambda api: (
            {row["node"] for row in api.get("/partitions")["partitions"] if row["pages"]}
            == {node["id"] for node in api.get("/nodes") if node["pages"]}
        ),
        "pages of every node",
    )
