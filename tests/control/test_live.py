"""Live settings take effect on a running crawl: judged by the simulated web's own log."""

import itertools
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.control.serving import Served, gaps_since, hosts_of, requests, until


def pages(log: Path, since: float) -> list[tuple[float, str, str]]:
    return [row for row in requests(log) if row[0] >= since and row[2] != "/robots.txt"]


def of_host(log: Path, since: float, host: str) -> list[tuple[float, str, str]]:
    return [row for row in pages(log, since) if row[1] == host]


def outcomes(crawl: Served, *names: str) -> int:
    """As counted by the status, which is taken once a second."""
    counted = crawl.get("/status")["outcomes"]
    return sum(counted.get(name, 0) for name in names)


def test_a_longer_gap_holds_at_once(crawl: Served, web_log: Path):
    until(lambda: len(requests(web_log)) > 200, "the crawl is under way")
    crawl.set(politeness__delay="1500ms")
    begun = time.time()
    gaps = until(lambda: len(found := gaps_since(web_log, begun)) > 20 and found, "second visits")
    assert min(gaps) >= 1.49
    crawl.post("/settings/changes/1/undo")
    undone = time.time()
    # A shorter gap holds from each host's next visit on.
    until(lambda: sum(gap < 1.4 for gap in gaps_since(web_log, undone)) > 100, "the old gap again")


def test_concurrency_goes_down_to_one(crawl: Served, web_log: Path):
    until(lambda: len(requests(web_log)) > 200, "the crawl is under way")
    crawl.set(fetch__concurrency=1, fetch__total_timeout="10s")
    # One runs; as many as half more and eight wait their turn at the fetcher's door.
    most = 1 + 0 + 8

    def later(moment: float) -> Any:
        return until(lambda: (s := crawl.get("/status"))["time"] > moment and s, "a status")

    # The first ones may be of counters that were read before, and of visits that end.
    status = later(time.time())
    while status["settings_version"] != 1 or status["in_flight"] > most:
        status = later(status["time"])
    status = later(status["time"])
    for _ in range(3):
        status = later(status["time"])
        assert status["in_flight"] <= most


def test_blocked_hosts_and_scope_bind_what_is_queued_already(crawl: Served, web_log: Path):
    until(lambda: len(requests(web_log)) > 300, "the crawl is under way")
    busiest = hosts_of(web_log)[0]
    until(lambda: crawl.get(f"/hosts/{busiest}")["queued"] > 10, "it has a queue")
    crawl.set(scope__block=[busiest.partition(":")[0]])
    # A visit that had begun may still be under way.
    begun = crawl.settled([busiest])
    until(lambda: crawl.get(f"/hosts/{busiest}")["queued"] == 0, "its URLs leave the queue")
    until(lambda: len(pages(web_log, begun)) > 100, "others are visited")
    assert of_host(web_log, begun, busiest) == []
    until(lambda: outcomes(crawl, "out_of_scope") > 10, "they are counted")


def test_types_bodies_and_depth(crawl: Served, web_log: Path):
    until(lambda: len(requests(web_log)) > 100, "the crawl is under way")
    pdf = ["application/pdf"]
    crawl.set(fetch__types=pdf, fetch__follow_types=pdf)
    until(
        lambda: outcomes(crawl, "unwanted_type") > 20,
        "pages are not wanted any more",
    )
    html = ["text/html", "application/xhtml+xml"]
    crawl.set(fetch__types=[], fetch__follow_types=html, fetch__max_body="1KiB")
    until(lambda: outcomes(crawl, "truncated", "too_large") > 20, "bodies are cut")
    crawl.set(fetch__max_body="16MiB", limits__depth=0)
    until(
        lambda: outcomes(crawl, "over_quota") > 20,
        "links deeper than the seeds are refused",
    )


def test_a_site_is_visited_so_many_folders_deep(crawl: Served, web_log: Path):
    def deep(since: float) -> list[str]:
        paths = (path.partition("?")[0] for _, _, path in pages(web_log, since))
        return [path for path in paths if path.count("/") > 2]

    until(lambda: len(deep(0.0)) > 50, "the crawl is deep in its sites")
    crawl.set(limits__site_depth=1)
    begun = crawl.settled(hosts_of(web_log))
    until(lambda: len(pages(web_log, begun)) > 200, "what is not deep is visited")
    assert deep(begun) == []
    until(lambda: outcomes(crawl, "out_of_scope") > 10, "they are counted")
    account = crawl.get("/urls", url=crawl.get_seed() + "a/b/c.html")
    assert account["out_of_scope"].startswith("limits.site_depth")
    assert crawl.get("/urls", url=crawl.get_seed() + "a/b.html")["out_of_scope"] is None
    crawl.set(limits__site_depth=None)
    until(lambda: deep(begun), "deep pages are visited again")


def test_an_override_slows_one_host_down(crawl: Served, web_log: Path):
    until(lambda: len(requests(web_log)) > 300, "the crawl is under way")
    host = hosts_of(web_log)[0]
    until(lambda: crawl.get(f"/hosts/{host}")["queued"], "it has a queue")
    row = crawl.post(f"/hosts/{host}", {"action": "slow_down", "seconds": 30})
    assert (row["gap"], row["gap_source"], row["override"]) == (30.0, "override", 30.0)
    begun = crawl.settled([host])
    until(lambda: len(pages(web_log, begun)) > 200, "others are visited")
    # However long that took.
    gaps = [b[0] - a[0] for a, b in itertools.pairwise(of_host(web_log, begun, host))]
    assert all(gap >= 29.99 for gap in gaps), gaps
    assert len(gaps) <= 2
    row = crawl.post(f"/hosts/{host}", {"action": "speed_up"})
    assert (row["override"], row["gap_source"]) == (None, "setting")


def test_many_hosts_slowed_down_at_once_are_all_slow(crawl: Served, web_log: Path):
    until(lambda: len(requests(web_log)) > 300, "the crawl is under way")
    hosts = sorted({host for _, host, _ in requests(web_log)})[:8]
    with ThreadPoolExecutor(len(hosts)) as threads:
        act = {"action": "slow_down", "seconds": 30}
        list(threads.map(lambda host: crawl.post(f"/hosts/{host}", act), hosts))
    assert [crawl.get(f"/hosts/{host}")["override"] for host in hosts] == [30.0] * 8
    faster = {"action": "slow_down", "seconds": 0}
    answer = crawl.ask("POST", f"/api/v1/hosts/{hosts[0]}", faster)
    assert answer.status == 422
    assert "usual gap" in answer.json["detail"]


def test_what_was_changed_again_is_not_undone_by_the_way(crawl: Served):
    crawl.set(politeness__overrides={"a.test": "5s"})
    crawl.set(politeness__overrides={"a.test": "5s", "b.test": "9s"})
    answer = crawl.ask("POST", "/api/v1/settings/changes/1/undo")
    assert answer.status == 409
    assert "version 2" in answer.json["detail"]
    crawl.post("/settings/changes/2/undo")
    values = {row["name"]: row["value"] for row in crawl.get("/settings")["settings"]}
    assert values["politeness.overrides"] == {"a.test": "5s"}
    assert crawl.ask("POST", "/api/v1/settings/changes/2/undo").status == 409


def test_wrong_values_change_nothing(crawl: Served):
    before = crawl.get("/settings")
    wrong: list[dict[str, object]] = [
        {"fetch.concurrency": -1},
        {"fetch.concurrency": "many"},
        {"politeness.delay": -5},
        {"politeness.delay": "5 parsecs"},
        {"politeness.delay": "9" * 400 + "s"},
        {"scope.include": ["("]},
        {"scope.kind": "everything"},
        {"fetch.total_timeout": "2d"},
        {"limits.depth": 10**9},
        {"limits.site_depth": -1},
        {"frontier.order": "random"},
        {"politeness.overrides": {"not a host/": "1s"}},
        {"no.such": 1},
        {"fetch": {"concurrency": 1}},
        {"fetch.agent": "other"},
        {"politeness.delay": "2s", "scope.exclude": ["["]},
    ]
    for values in wrong:
        answer = crawl.ask("PATCH", "/api/v1/settings", {"values": values})
        assert answer.status == 422, (values, answer)
        assert answer.json["detail"], values
    assert crawl.get("/settings") == before
    stale = {"values": {"fetch.concurrency": 3}, "expected_version": 7}
    assert crawl.ask("PATCH", "/api/v1/settings", stale).status == 409


def test_changes_survive_a_restart_and_can_be_undone(crawl: Served):
    assert crawl.get("/settings")["version"] == 0
    crawl.set(fetch__concurrency=7, politeness__delay="2s")
    crawl.set(scope__exclude=["/private/"])
    tokens = crawl.token(), crawl.token("token-read")
    seeds = crawl.post("/seeds", {"urls": [crawl.get_seed()]})
    events = crawl.get("/events", after=0)["events"]
    assert crawl.end() == 0
    assert not (crawl.control / "url").exists()
    kept = tomllib.loads((crawl.out / "crawl.toml").read_text())
    assert kept["fetch"]["concurrency"] == 7
    crawl.start(resume=True)
    assert (crawl.token(), crawl.token("token-read")) == tokens
    view = crawl.get("/settings")
    values = {row["name"]: row for row in view["settings"]}
    assert view["version"] == 2
    assert values["fetch.concurrency"]["value"] == 7
    assert values["fetch.concurrency"]["changed_in"] == 1
    assert values["politeness.delay"]["value"] == "2s"
    first, _ = reversed(crawl.get("/settings/changes"))
    assert first["who"].startswith("operate:")
    assert [value["old"] for value in first["values"]] == [0, "250ms"]
    undo = crawl.post("/settings/changes/1/undo")
    assert (undo["version"], undo["undoes"]) == (3, 1)
    values = {row["name"]: row["value"] for row in crawl.get("/settings")["settings"]}
    assert (values["fetch.concurrency"], values["politeness.delay"]) == (0, "250ms")
    assert values["scope.exclude"] == ["/private/"]
    assert crawl.get("/seeds")["submissions"][0]["id"] == seeds["id"]
    later = crawl.get("/events", after=events[-1]["id"])["events"]
    assert later[0]["id"] == events[-1]["id"] + 1
    audit = crawl.get("/audit")
    assert [line["what"] for line in audit if line["done"]] == [
        "settings", "settings", "seeds", "command", "settings",
    ]  # fmt: skip
    assert audit[0]["old"] == {"fetch.concurrency": 0, "politeness.delay": "250ms"}
