"""The order of the queue, changed while the crawl runs: judged by the simulated web's own log."""

import time
from pathlib import Path

from tests.control.serving import Served, hosts_of, requests, served, until

from gossamer.simweb import SimWeb


def resume(crawl: Served, log: Path, wanted: int) -> list[str]:
    """Paths of the next visits."""
    begun = time.time()
    assert crawl.post("/commands", {"command": "resume"})["confirmed"]
    return visits(log, begun, wanted)


def visits(log: Path, begun: float, wanted: int) -> list[str]:
    """Paths of the first visits since then, of all hosts; robots files and sitemaps apart."""

    def found() -> list[str]:
        return [path for moment, _, path in requests(log) if moment >= begun and is_page(path)]

    until(lambda: len(found()) >= wanted, "visits")
    return found()[:wanted]


def is_page(path: str) -> bool:
    return path != "/robots.txt" and "sitemap" not in path


def reranked(crawl: Served) -> int:
    status = until(
        lambda: (s := crawl.get("/status"))["reranking"] == 0 and s["reranked"] and s,
        "the queues are in order",
    )
    return int(status["reranked"])


def test_a_new_order_counts_for_new_urls_and_after_a_rerank_for_all(crawl: Served, web_log: Path):
    until(lambda: crawl.get("/status")["urls_queued"] > 4000, "long queues")
    crawl.rest()
    crawl.set(frontier__order="arrival")
    assert crawl.get("/status")["reranked"] == 0
    # What was queued before keeps its place: about a quarter of it has a query, and comes two links later.
    assert [path for path in resume(crawl, web_log, 200) if "?" in path] == []
    crawl.rest()
    queued = sum(row["queued"] for row in crawl.get("/partitions")["partitions"])
    result = crawl.post("/commands", {"command": "rerank"})
    assert result["confirmed"]
    assert [node["confirmed"] for node in result["nodes"]] == [True]
    assert reranked(crawl) > 500
    until(lambda: crawl.get("/status")["urls_queued"] == queued, "as many as before")
    assert sum(row["queued"] for row in crawl.get("/partitions")["partitions"]) == queued
    events = until(
        lambda: [e for e in crawl.get("/events")["events"] if "moved" in e["data"]],
        "it tells when it is done",
    )
    assert events[-1]["kind"] == "rerank"
    # As they came, whatever their queries.
    assert [path for path in resume(crawl, web_log, 200) if "?" in path]


def test_rerank_from_the_command_line_and_back(crawl: Served, web_log: Path):
    until(lambda: crawl.get("/status")["urls_queued"] > 2000, "long queues")
    crawl.rest()
    assert crawl.command("set", "frontier.order=deep")["values"][0]["new"] == "deep"
    assert crawl.command("rerank")["confirmed"]
    moved = reranked(crawl)
    assert crawl.command("set", "frontier.order=breadth")["values"][0]["new"] == "breadth"
    assert crawl.command("rerank")["confirmed"]
    # Every URL that had moved moves back, and no other one.
    until(lambda: crawl.get("/status")["reranked"] == 2 * moved, "all is as before")
    assert resume(crawl, web_log, 50)
    words = [(row["what"], row["new"]) for row in crawl.get("/audit")]
    assert words.count(("command", "rerank")) == 2


def test_a_killed_crawl_finishes_its_rerank(crawl: Served, web_log: Path):
    until(lambda: crawl.get("/status")["urls_queued"] > 2000, "long queues")
    crawl.rest()
    crawl.set(frontier__order="static")
    crawl.post("/commands", {"command": "rerank"})
    crawl.kill()
    crawl.start(resume=True)
    until(lambda: crawl.get("/status")["reranking"] == 0, "the queues are in order")
    begun = crawl.settled(hosts_of(web_log))
    assert [path for path in visits(web_log, begun, 100) if "?" in path] == []
    account = crawl.get("/settings")["settings"]
    assert {row["value"] for row in account if row["name"] == "frontier.order"} == {"static"}


def test_an_order_that_would_have_no_effect_is_refused(web: SimWeb, tmp_path: Path):
    with served(tmp_path / "out", web, "--delay", "250ms", "--set", "doors.order=deep") as crawl:
        answer = crawl.ask("PATCH", "/api/v1/settings", {"values": {"frontier.order": "static"}})
        assert answer.status == 422
        assert "doors.order names deep" in answer.body.decode()
        assert crawl.get("/settings")["version"] == 0
