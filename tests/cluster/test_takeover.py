"""Two control nodes: whatever one of them was told, the other one knows."""

import json
import signal
import subprocess
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.cluster.clustering import GOSSAMER, Cluster
from tests.cluster.steering import Steered
from tests.crawl.crawling import until

from gossamer.control.client import Client
from gossamer.simweb import Options, SimWeb, serve

WEB = Options(hosts=20, pages=200, host_skew=0.0, duplicates=0.0, port=0)


@pytest.fixture
def web(web_log: Path) -> Iterator[SimWeb]:
    with serve(WEB, log=web_log) as running:
        yield running


@pytest.fixture
def steered(cluster: Callable[..., Cluster], tmp_path: Path) -> Steered:
    return Steered(
        lambda *options, **more: cluster(*options, expect=2, stay=True, **more),
        tmp_path,
        "--set", "cluster.lease=6s",
        delay="50ms",
    )  # fmt: skip


def states(events: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(one["node"], one["data"]["state"]) for one in events if "state" in one["data"]]


def told(api: Client) -> tuple[Any, Any, Any]:
    return api.get("/events", limit=500)["events"], api.get("/seeds"), api.get("/audit", limit=500)


def controls(api: Client) -> dict[str, str]:
    return {one["id"]: one["state"] for one in api.get("/control-nodes")}


def alerts(api: Client) -> set[str]:
    return {one["kind"] for one in api.get("/alerts")}


def present(cluster: Cluster) -> dict[str, str]:
    """As `gossamer nodes list` prints them."""
    done = subprocess.run(
        [*GOSSAMER, "nodes", "list", "--engine", cluster.urls[0]],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    rows = done.stdout[done.stdout.index("control node") :].splitlines()[1:]
    return {row.split()[0]: row.split()[1] for row in rows if row.strip()}


def test_events_submissions_and_the_audit_log_outlive_a_control_node(
    steered: Steered, web: SimWeb
) -> None:
    cluster = steered.cluster
    cluster.start("n1", "n2")
    first = cluster.control
    assert first is not None
    steered.until(lambda api: api.get("/status")["pages"] > 20, "nodes at work")
    second = cluster.start_control(name="second")
    until(lambda: "standing by" in second.said(), "a second control node", 60)
    two = {"control": "leads", "second": "waits"}
    steered.until(lambda api: controls(api) == two, "it is seen")
    until(lambda: present(cluster) == two, "it is in the list that is printed", 60)
    api = steered.client()
    seeds = [api.post("/seeds", {"urls": [f"{web.url}?n={n}", "no-url"]}) for n in range(3)]
    api.patch("/settings", {"values": {"limits.depth": 9}})
    api.post("/commands", {"command": "checkpoint"})
    subprocess.run(
        [*GOSSAMER, "nodes", "keep", "n1", "--engine", cluster.urls[0]], check=True, timeout=60
    )
    assert api.get(f"/seeds/{seeds[1]['id']}")["total"] == 2
    # Each change is told when its answer is there; what nodes say, a little later.
    both = [("n1", "running"), ("n2", "running")]
    steered.until(
        lambda api: (
            set(both) <= set(states(api.get("/events")["events"]))
            and "checkpoint" in {one["kind"] for one in api.get("/events")["events"]}
        ),
        "all of it told",
    )
    until(cluster.acquainted, "each control node saw the other one at work", 60)
    events, submissions, audit = told(api)
    first.kill()

    steered.until(
        lambda api: [one for one in api.get("/status")["control"] if one["id"] == "second"],
        "the second serves",
    )
    steered.until(lambda api: api.get("/status")["control"][0]["leads"], "the second leads")
    steered.until(
        lambda api: controls(api) == {"second": "leads", "control": "lost"}, "the first is missed"
    )
    steered.until(
        lambda api: [
            one
            for one in api.get("/events", limit=500)["events"]
            if one["kind"] == "alert" and one["data"]["kind"] == "no_reserve"
        ],
        "that nobody waits in reserve is told",
    )
    assert "no_reserve" in alerts(steered.client())
    api = steered.client()
    later, *same = told(api)
    assert later[: len(events)] == events
    assert same == [submissions, audit]
    assert [one["id"] for one in submissions["submissions"]] == [3, 2, 1]
    assert [one["what"] for one in audit] == ["seeds"] * 3 + ["settings", "command", "keep"]
    assert audit[-1]["who"].startswith("engine:")
    assert "@" in audit[-1]["who"]
    assert audit[-1]["target"] == "n1"

    # Numbers go on, and nothing is told twice.
    assert api.post("/seeds", {"urls": [f"{web.url}?n=4"]})["id"] == 4
    api.post("/commands", {"command": "pause"})
    last = events[-1]["id"]

    def after(api: Client) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = api.get("/events", after=last, limit=500)["events"]
        return found if "paused" in {one["kind"] for one in found} else []

    new = steered.until(after, "the pause is told")
    assert [one["id"] for one in new] == list(range(last + 1, last + 1 + len(new)))
    assert "control node second leads" in {one["text"] for one in new}
    # A node may be silent for a while where the machine is busy; no state is told twice in a row.
    for name in ("n1", "n2"):
        each = [state for node, state in states([*events, *new]) if node == name]
        assert all(before != state for before, state in pairwise(each)), each
    lines = (cluster.out / "second" / "audit.jsonl").read_text().splitlines()
    assert [json.loads(line)["id"] for line in lines] == list(range(1, len(lines) + 1))
    assert len(lines) == len(audit) + 2

    # Another one in reserve ends the alert, and its orderly end is no loss.
    third = cluster.start_control(name="third")
    steered.until(lambda api: controls(api).get("third") == "waits", "a third one")
    steered.until(lambda api: "no_reserve" not in alerts(api), "the alert is over")
    third.signal(signal.SIGTERM)
    assert third.wait(60) == 0, third.said()
    steered.until(lambda api: controls(api) == {"second": "leads", "control": "lost"}, "it is gone")
    assert "no_reserve" not in alerts(steered.client())
