"""Rules while a crawl runs, after a kill, in a cluster: versions, what is queued, gaps by the web's own log."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cluster.clustering import Cluster, logged
from tests.control.serving import Served, until
from tests.crawl.crawling import expected, gaps

from gossamer.simweb import Options, SimWeb, serve, truth

WEB = Options(hosts=12, pages=600, host_skew=0.0, port=0)
ODD = re.compile(r"[13579](\.html?)?/?$")
"""Of paths."""
ODD_URL = re.compile(rf"://[^/]+/.*{ODD.pattern}")
"""The web's port, which may be odd, does not count."""
RULE = {"name": "no-odd", "match": {"regex": [ODD_URL.pattern]}, "drop": "odd numbers"}


@pytest.fixture
def web_log(tmp_path: Path) -> Path:
    return tmp_path / "requests.log"


@pytest.fixture
def web(web_log: Path) -> Iterator[SimWeb]:
    with serve(WEB, log=web_log) as server:
        yield server


@pytest.fixture
def crawl(web: SimWeb, tmp_path: Path) -> Iterator[Served]:
    running = Served(tmp_path / "out", web)
    try:
        # It stays when all is crawled: a test may ask it at any time.
        yield running.start("--delay", "250ms", "--stay")
    finally:
        running.kill()


def finish(crawl: Served) -> None:
    """Waits until all is crawled, and ends it."""
    until(lambda: crawl.get("/status")["activity"] == "finished", "the end of the crawl", 100)
    assert crawl.end() == 0


def lines(out: Path) -> list[dict[str, object]]:
    files = sorted(out.glob("**/log/*.jsonl"))
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]


def requested(log: Path) -> list[tuple[int, str, str]]:
    """Time, host and path of each request, as the web saw it; robots files apart."""
    rows = [line.split(" ") for line in log.read_text().splitlines()]
    return [(int(row[0]), row[2], row[3]) for row in rows if row[3] != "/robots.txt"]


def hosts(web: SimWeb) -> list[str]:
    return list(dict.fromkeys(row.url.split("/")[2] for row in truth(web.options).rows()))


def test_a_list_that_changes_holds_for_what_is_queued(
    crawl: Served, web: SimWeb, web_log: Path
) -> None:
    until(lambda: crawl.get("/status")["pages"] > 12, "some pages")
    crawl.rest()
    before = len(requested(web_log))
    wrong = crawl.ask(
        "PATCH",
        "/api/v1/settings",
        {"values": {"rule": [{"name": "x", "match": {"path_prefix": ["/"]}, "quota": 1}]}},
    )
    assert wrong.status == 422
    assert "rule 'x': quota: it cannot depend on match.path_prefix" in wrong.body.decode()
    change = crawl.command("set", f"rule={json.dumps([RULE])}")
    crawl.set(politeness__delay="0s")
    crawl.post("/commands", {"command": "resume"})
    event = next(
        one
        for one in crawl.get("/events", limit=100)["events"]
        if one["kind"] == "setting" and one["data"]["name"] == "rule"
    )
    assert event["data"]["version"] == change["version"]
    victim = until(
        lambda: next((row for row in lines(crawl.out) if row["outcome"] == "rule_dropped"), None),
        "a drop",
    )
    account = crawl.get("/urls", url=victim["url"])
    assert account["rules_version"] == change["version"]
    assert [(one["effect"], one["rule"]) for one in account["rules"]] == [("drop", "no-odd")]
    assert account["visits"][-1]["reason"] == "rule 'no-odd': odd numbers"
    finish(crawl)
    after = requested(web_log)[before:]
    assert after
    assert not [path for _, _, path in after if ODD.search(path)]
    dropped = [row["url"] for row in lines(crawl.out) if row["outcome"] == "rule_dropped"]
    assert dropped
    assert len(set(dropped)) == len(dropped)
    # Of a crawl that has ended, `why` says the same.
    ended = crawl.command("why", str(victim["url"]))
    assert ended["rules_version"] == change["version"]
    assert ended["rules"][0]["rule"] == "no-odd"


def test_a_rule_that_goes_lets_urls_in_again(crawl: Served, web_log: Path) -> None:
    until(lambda: crawl.get("/status")["pages"] > 12, "some pages")
    crawl.rest()
    # As slow as before: there must be something left to visit when the rule goes.
    crawl.set(rule=[RULE])
    crawl.post("/commands", {"command": "resume"})
    until(lambda: any(row["outcome"] == "rule_dropped" for row in lines(crawl.out)), "a drop")
    crawl.rest()
    dropped = {row["url"] for row in lines(crawl.out) if row["outcome"] == "rule_dropped"}
    crawl.set(rule=[], politeness__delay="0s")
    crawl.post("/commands", {"command": "resume"})
    finish(crawl)
    visited = {row["url"] for row in lines(crawl.out) if row["status"] is not None}
    # What was dropped and is linked again from a page visited since has come in.
    assert dropped & visited


def test_kill_9_tells_nothing_twice_and_forgets_no_rule(
    web: SimWeb, web_log: Path, tmp_path: Path
) -> None:
    crawl = Served(tmp_path / "out", web)
    rules = json.dumps([RULE])
    try:
        crawl.launch("--delay", "100ms", "--set", f"rule={rules}")
        for requests in (60, 120):
            until(lambda: web.requests() > requests, "requests")  # noqa: B023
            crawl.kill()
            crawl.launch(resume=True)
        assert crawl.process is not None
        assert crawl.process.wait(100) == 0
    finally:
        crawl.kill()
    rows = lines(crawl.out)
    dropped = [row["url"] for row in rows if row["outcome"] == "rule_dropped"]
    assert len(set(dropped)) == len(dropped)
    assert dropped
    assert all(ODD_URL.search(str(url)) for url in dropped)
    assert not [path for _, _, path in requested(web_log) if ODD.search(path)]
    fetched = {row["url"] for row in rows if row["outcome"] in {"fetched", "duplicate"}}
    assert fetched <= expected(web)
    assert not [url for url in fetched if ODD_URL.search(str(url))]


def test_a_delay_by_rule_is_kept(web: SimWeb, web_log: Path, tmp_path: Path) -> None:
    crawl = Served(tmp_path / "out", web)
    slow = next(host for host in hosts(web) if host != web.url.split("/")[2]).split(":")[0]
    rules = json.dumps([{"name": "slow", "match": {"host": [slow]}, "delay": "300ms"}])
    try:
        crawl.start("--delay", "10ms", "--set", f"rule={rules}")
        row = until(
            lambda: next(
                (one for one in crawl.get("/hosts")["hosts"] if one["name"].startswith(f"{slow}:")),
                None,
            ),
            "the slow host",
        )
        assert (row["gap"], row["gap_source"]) == (0.3, "rule")
        until(
            lambda: sum(host.startswith(slow) for _, host, _ in requested(web_log)) > 5,
            "visits to the slow host",
        )
        crawl.end()
    finally:
        crawl.kill()
    web.stop()
    found = gaps(web_log)
    of_slow = [gap for gap, _, where in found if where.startswith(f"{slow}")]
    others = [gap for gap, _, where in found if not where.startswith(f"{slow}")]
    assert min(of_slow) >= 0.2995
    assert min(others) < 0.2


def test_a_cluster_drops_each_url_once(web: SimWeb, web_log: Path, tmp_path: Path) -> None:
    rules = json.dumps([RULE])
    cluster = Cluster(web, tmp_path / "cluster", "--set", f"rule={rules}", delay="50ms")
    try:
        cluster.start()
        summary = cluster.until_done()
        directories = [path for path in (cluster.out / "nodes").iterdir() if path.is_dir()]
        rows = [row for directory in directories for row in logged(directory)]
    finally:
        cluster.end()
    dropped = [row["url"] for row in rows if row["outcome"] == "rule_dropped"]
    assert dropped
    assert len(set(dropped)) == len(dropped)
    assert summary.progress.outcomes["rule_dropped"] == len(dropped)
    assert not [path for _, _, path in requested(web_log) if ODD.search(path)]
