"""What a page of the dashboard looks up: hosts by failure, the fetch log, a host's queue, a stored page.

The same by a standalone crawl and by a cluster.
"""

import itertools
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from tests.control.serving import Served, served, until

from gossamer.simweb import Options, serve


@pytest.fixture
def closed_port() -> Iterator[int]:
    """Nobody listens there, and nobody else is given it."""
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        yield int(holder.getsockname()[1])


def all_visits(crawl: Served, **query: object) -> list[dict[str, Any]]:
    """Every page, one after the other."""
    found: list[dict[str, Any]] = []
    cursor: dict[str, object] = {}
    while True:
        page = crawl.get("/log", **query, **cursor)
        found += page["visits"]
        if page["next"] is None:
            return found
        cursor = {"cursor": page["next"]}


def test_hosts_are_found_by_how_they_fail(asked: Served, closed_port: int) -> None:
    name = f"127.0.0.1:{closed_port}"
    assert asked.post("/seeds", {"urls": [f"http://{name}/"]})["taken"] == 1
    query = {"failure": "connect_failed", "sort": "errors"}
    rows = until(lambda: asked.get("/hosts", **query)["hosts"], "a host that fails")
    assert [row["name"] for row in rows] == [name]
    (visit,) = asked.get("/log", host=name, limit=1)["visits"]
    assert visit["outcome"] == "connect_failed"
    wrong = asked.ask("GET", "/api/v1/hosts?failure=nonsense")
    assert (wrong.status, wrong.json["code"]) == (422, "failure")


def test_the_fetch_log_is_read_newest_first_to_its_beginning(asked: Served) -> None:
    until(lambda: asked.get("/status")["pages"] >= 100, "everything is visited")
    # What happens from now on is not looked at.
    end = asked.get("/log", limit=1)["visits"][0]["time"]
    visits = all_visits(asked, until=end, limit=7)
    assert len(visits) > 100
    times = [visit["time"] for visit in visits]
    # A line is written when its visit ends: neighbours may have changed places.
    assert all(b <= a + 5 for a, b in itertools.pairwise(times))
    assert len({(visit["url"], visit["time"]) for visit in visits}) == len(visits)
    assert visits == all_visits(asked, until=end, limit=200)
    some = next(visit for visit in visits[50:] if visit["outcome"] == "fetched")
    for name in ("outcome", "host", "url", "status"):
        found = all_visits(asked, until=end, **{name: some[name]})
        assert found == [visit for visit in visits if visit[name] == some[name]]
    part = all_visits(asked, until=end, text=some["url"][-6:].upper())
    assert some in part
    until_then = all_visits(asked, until=some["time"])
    assert until_then == [visit for visit in visits if visit["time"] <= some["time"]]
    since_then = all_visits(asked, since=some["time"], until=end)
    assert since_then == [visit for visit in visits if visit["time"] >= some["time"]]


@pytest.mark.parametrize(
    ("query", "code"), [("cursor=x", "wrong_cursor"), ("outcome=nonsense", "outcome")]
)
def test_a_wrong_question_about_the_log_is_refused(asked: Served, query: str, code: str) -> None:
    answer = asked.ask("GET", f"/api/v1/log?{query}")
    assert (answer.status, answer.json["code"]) == (422, code)


def test_a_host_tells_its_queue_and_its_robots_file(asked: Served, closed_port: int) -> None:
    name = f"127.0.0.1:{closed_port}"
    urls = [f"http://{name}/{at}" for at in range(3)]
    assert asked.post("/seeds", {"urls": urls})["taken"] == 3
    until(lambda: asked.get("/hosts", failure="connect_failed", search=name)["hosts"], "it fails")
    detail = asked.get(f"/hosts/{name}/detail")
    assert {row["url"] for row in detail["queue"]} <= set(urls)
    assert detail["queue"]
    assert detail["robots_http"] is None
    assert asked.ask("GET", "/api/v1/hosts/nobody.test/detail").status == 404


def test_the_robots_file_is_told_as_it_was_read(tmp_path: Path) -> None:
    options = Options(hosts=4, pages=40, robots=1.0, port=0)
    with serve(options) as web, served(tmp_path / "out", web, "--stay") as crawl:

        def with_rules() -> list[str]:
            hosts = crawl.get("/hosts")["hosts"]
            return [row["name"] for row in hosts if row["robots_http"]["kind"] == "rules"]

        name = until(with_rules, "a host with rules")[0]
        told = crawl.get(f"/hosts/{name}/detail")["robots_http"]
        assert "user-agent" in told["text"].lower()
        assert (told["bytes"], told["cut"]) == (len(told["text"].encode()), False)


def test_a_stored_page_is_shown_as_text_with_its_file(asked: Served) -> None:
    visit = asked.get("/log", outcome="fetched", limit=1)["visits"][0]
    account = asked.get("/urls", url=visit["url"])
    name = account["last_visit"]["warc_name"]
    assert name.endswith(".warc.gz")
    answer = asked.ask("GET", f"/api/v1/stored?url={quote(visit['url'], safe='')}")
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"
    page = answer.json
    assert answer.status == 200, page
    assert (page["file"], page["offset"]) == (name, account["last_visit"]["warc_offset"])
    assert page["head"].startswith("HTTP/1.1 200")
    assert "<html" in page["text"].lower()
    nothing = asked.ask("GET", f"/api/v1/stored?url={quote(visit['url'], safe='')}nothing")
    assert (nothing.status, nothing.json["code"]) == (404, "not_stored")


def test_the_seeds_that_a_crawl_was_begun_with_are_told(asked: Served) -> None:
    page = asked.get("/seeds/0")
    assert page["total"] >= 1
    first = page["fates"][0]
    assert (first["url"], first["taken"], first["outcome"]) == (asked.get_seed(), True, "fetched")


def test_a_node_has_a_history_and_inner_sizes(asked: Served) -> None:
    name = asked.get("/nodes")[0]["id"]
    history = until(
        lambda: len((found := asked.get(f"/nodes/{name}/history"))["times"]) > 1 and found,
        "two readings",
    )
    assert {"pages", "urls_queued", "rss"} <= history["columns"].keys()
    assert max(history["columns"]["pages"]) > 0
    assert asked.ask("GET", "/api/v1/nodes/nobody/history").status == 404
    inner = asked.get("/status")["inner"]
    assert inner["seen_ram"] > 0
    assert inner["hosts_in_ram"] >= 10
    nodes = [node["inner"]["seen_ram"] for node in asked.get("/nodes")]
    assert sum(nodes) == pytest.approx(inner["seen_ram"], rel=0.5)
    metrics = asked.ask("GET", "/metrics").body.decode()
    for line in ("gossamer_seen_ram ", "gossamer_heads ", "gossamer_dns_hits_total "):
        assert f"\n{line}" in metrics


def test_a_refused_value_is_said_once(asked: Served) -> None:
    answer = asked.ask("PATCH", "/api/v1/settings", {"values": {"politeness.delay": "xx"}})
    assert answer.json["detail"].count('got "xx"') == 1
