"""Commands: pause, resume, stop, checkpoint; hosts; seeds; from the API and from the command line."""

import itertools
import os
import subprocess
import time
from collections import Counter
from pathlib import Path

from tests.control.serving import GOSSAMER, Served, hosts_of, requests, until

from gossamer.simweb import SimWeb


def test_pause_is_silent_within_a_second_and_resume_goes_on(crawl: Served, web_log: Path):
    until(lambda: len(requests(web_log)) > 300, "the crawl is under way")
    asked = time.time()
    result = crawl.post("/commands", {"command": "pause"})
    assert result["confirmed"]
    assert [node["confirmed"] for node in result["nodes"]] == [True]
    until(lambda: time.time() > asked + 3.0, "some seconds")
    late = [row for row in requests(web_log) if row[0] > asked + 1.0]
    assert late == []
    status = until(
        lambda: (s := crawl.get("/status"))["activity"] == "paused" and s["in_flight"] == 0 and s,
        "it says so too",
    )
    assert status["wanted"] == "pause"
    resumed = time.time()
    crawl.post("/commands", {"command": "resume"})
    until(lambda: [row for row in requests(web_log) if row[0] > resumed], "it goes on", 5.0)
    kinds = [event["kind"] for event in crawl.get("/events")["events"]]
    # The machine may have alerts of its own.
    assert [kind for kind in kinds if not kind.startswith("alert")] == [
        "started", "paused", "resumed",
    ]  # fmt: skip


def test_stop_saves_everything(crawl: Served, web_log: Path):
    until(lambda: len(requests(web_log)) > 300, "the crawl is under way")
    assert crawl.end() == 0
    assert "--resume" in crawl.log("stderr").read_text()
    assert not list((crawl.out / "warc").glob("*.open"))
    audit = subprocess.run([*GOSSAMER, "audit", str(crawl.out)], capture_output=True, check=False)
    assert audit.returncode == 0, audit.stdout


def test_what_there_is_not_says_why(crawl: Served):
    answer = crawl.ask("POST", "/api/v1/commands", {"command": "add_node"})
    assert answer.status == 409
    assert answer.json["detail"]
    known = {row["command"]: row for row in crawl.get("/commands")}
    assert known["pause"]["available"]
    assert known["add_node"]["reason"]
    assert crawl.ask("POST", "/api/v1/nodes/standalone/remove").status == 409
    assert crawl.ask("POST", "/api/v1/nodes/nobody/pause").status == 404
    assert crawl.ask("POST", "/api/v1/commands", {"command": "run-this"}).status == 422
    assert crawl.post("/commands", {"command": "checkpoint"})["confirmed"]


def busiest(crawl: Served, log: Path) -> str:
    """Of those with a queue."""
    until(lambda: len(requests(log)) > 300, "the crawl is under way")

    def find() -> str | None:
        queued = ((host, crawl.get(f"/hosts/{host}")["queued"]) for host in hosts_of(log))
        return next((host for host, count in queued if count > 20), None)

    return str(until(find, "a host has a queue"))


def others_go_on(log: Path, since: float) -> None:
    """Waits until some other host was visited so often that this one's turn would have come too."""

    def often() -> bool:
        visits = Counter(host for moment, host, _ in requests(log) if moment > since)
        return max(visits.values(), default=0) >= 6

    until(often, "other hosts are visited")


def test_block_keeps_urls_and_unblock_visits_them(crawl: Served, web_log: Path):
    host = busiest(crawl, web_log)
    row = crawl.post(f"/hosts/{host}", {"action": "block"})
    assert row["blocked"]
    begun = crawl.settled([host])
    others_go_on(web_log, begun)
    assert [row for row in requests(web_log) if row[0] > begun and row[1] == host] == []
    assert crawl.get(f"/hosts/{host}")["queued"] > 0
    until(lambda: crawl.get("/status")["hosts_blocked"] >= 1, "the status counts it")

    def blocked() -> list[str]:
        return [row["name"] for row in crawl.get("/hosts", standing="blocked")["hosts"]]

    assert until(blocked, "the list has it") == [host]
    # A block is durable: it holds after a crash too.
    crawl.kill()
    crawl.start(resume=True)
    assert crawl.get(f"/hosts/{host}")["blocked"]
    unblocked = time.time()
    crawl.post(f"/hosts/{host}", {"action": "unblock"})
    until(
        lambda: [row for row in requests(web_log) if row[0] > unblocked and row[1] == host],
        "it is visited again",
    )


def test_a_host_can_be_blocked_before_it_is_met(crawl: Served):
    row = crawl.post("/hosts/never.example", {"action": "block"})
    assert (row["standing"], row["queued"]) == ("blocked", 0)
    assert crawl.ask("POST", "/api/v1/hosts/other.example", {"action": "unblock"}).status == 404
    for name in ("a%2Fb", "user@x.example", "x.example%3Fq", "%20", "x%00y"):
        answer = crawl.ask("POST", f"/api/v1/hosts/{name}", {"action": "block"})
        assert answer.status in {404, 422}, (name, answer)


def test_set_aside_retry_and_forget(crawl: Served, web_log: Path):
    host = busiest(crawl, web_log)
    asked = time.time()
    row = crawl.post(f"/hosts/{host}", {"action": "set_aside", "seconds": 3600})
    assert row["set_aside"]
    assert row["due"] >= asked + 3600
    begun = crawl.settled([host])
    others_go_on(web_log, begun)
    assert [row for row in requests(web_log) if row[0] > begun and row[1] == host] == []
    tried = time.time()
    crawl.post(f"/hosts/{host}", {"action": "retry"})
    until(
        lambda: [row for row in requests(web_log) if row[0] > tried and row[1] == host],
        "it has another chance",
    )
    crawl.post(f"/hosts/{host}", {"action": "forget"})
    # A visit that had begun may still be under way; then it is active.
    until(
        lambda: (r := crawl.get(f"/hosts/{host}"))["queued"] == 0 and r["standing"] == "given_up",
        "its URLs leave the queue",
    )
    answer = crawl.ask("POST", f"/api/v1/hosts/{host}", {"action": "set_aside"})
    assert answer.status == 422


def test_hosts_sorted_searched_and_paged(crawl: Served, web_log: Path):
    until(lambda: crawl.get("/status")["hosts_known"] == 40, "all hosts are met")
    crawl.rest()
    by = {"queued": "queued", "pages": "pages", "errors": "errors", "last_visit": "last_end"}
    for sort, field in by.items():
        rows, cursor = [], None
        while True:
            query = {"sort": sort, "limit": 7} | ({"cursor": cursor} if cursor else {})
            page = crawl.get("/hosts", **query)
            rows += page["hosts"]
            cursor = page["next"]
            if cursor is None:
                break
        assert len({row["name"] for row in rows}) == page["total"] == 40
        values = [int(row[field] or 0) for row in rows]
        # Times are kept in whole seconds, rounded up.
        assert all(a >= b - 1 for a, b in itertools.pairwise(values)), sort
    names = [row["name"] for row in crawl.get("/hosts", sort="name", limit=500)["hosts"]]
    assert names == sorted(names)
    part = names[10][:6]
    found = crawl.get("/hosts", sort="name", search=f"^{part}", limit=500)
    assert [row["name"] for row in found["hosts"]] == [n for n in names if n.startswith(part)]
    assert found["matched"] == len(found["hosts"])
    found = crawl.get("/hosts", search=names[3][2:8], limit=500)["hosts"]
    assert names[3] in [row["name"] for row in found]
    assert crawl.ask("GET", "/api/v1/hosts?cursor=nonsense").status == 422
    sizes = crawl.get("/partitions")["partitions"]
    assert sum(row["hosts"] for row in sizes) == 40
    queued = sum(row["queued"] for row in sizes)
    # The counters are read once a second.
    until(lambda: crawl.get("/status")["urls_queued"] == queued, "the same count", 5.0)


def test_seeds_are_crawled_and_their_fate_is_told(quiet: Served):
    assert quiet.web is not None
    until(lambda: quiet.get("/status")["activity"] == "finished", "all is crawled")
    fresh = f"{quiet.web.url}?submitted=by-a-site-owner"
    sent = quiet.post("/seeds", {"urls": [fresh, "mailto:x@example.org", "http://"]})
    assert (sent["taken"], sent["refused"]) == (1, 2)
    assert all(seed["reason"] for seed in sent["seeds"] if not seed["taken"])

    def fate():
        return quiet.get(f"/seeds/{sent['id']}")["fates"][0]

    told = until(lambda: (one := fate())["outcome"] and one, "the seed is visited")
    assert told["status"]
    page = quiet.get(f"/seeds/{sent['id']}", offset=1, limit=1)
    assert (page["total"], page["next"], page["fates"][0]["taken"]) == (3, 2, False)
    assert quiet.get("/seeds")["submissions"][0]["id"] == sent["id"]
    account = quiet.get("/urls", url=fresh)
    assert account["last_visit"]["outcome"] == told["outcome"]
    assert account["seen"]


def test_the_command_line(crawl: Served, web: SimWeb, web_log: Path):
    until(lambda: len(requests(web_log)) > 100, "the crawl is under way")
    # The status is taken once a second: the log may be ahead of it.
    until(lambda: crawl.command("status")["pages"] > 0, "the status counts pages")
    assert crawl.command("set", "fetch.concurrency=9", "scope.exclude=[]")["version"] == 1
    assert crawl.command("set", "--undo", "1")["undoes"] == 1
    assert crawl.command("pause")["confirmed"]
    shown = crawl.command("nodes")
    assert shown["nodes"][0]["state"] in {"paused", "running"}
    assert [one["state"] for one in shown["control"]] == ["leads"]
    assert crawl.command("resume")["confirmed"]
    assert crawl.command("seed", web.url)["taken"] == 1
    # Refused here by its form, or there by the crawl's settings: wrong use both times.
    for wrong in ("notaurl", "http://a.example:99999/"):
        seeded = subprocess.run(
            [*GOSSAMER, "seed", wrong, "--out", str(crawl.out)], capture_output=True, text=True, check=False
        )  # fmt: skip
        assert seeded.returncode == 2
        assert f"refused: {wrong}: " in seeded.stderr
    assert crawl.command("block", "never.example")["hosts"][0]["blocked"]
    assert crawl.command("unblock", "never.example")["hosts"][0]["blocked"] is False
    account = crawl.command("why", web.url, "--control", crawl.url)
    assert account["last_visit"]["outcome"] == "fetched"
    # A running crawl's own directory is enough.
    assert crawl.command("why", web.url)["url"] == account["url"]
    # With a token to read one can look, and no more.
    reader = {"GOSSAMER_TOKEN_FILE": str(crawl.control / "token-read")}
    assert crawl.command("status", environ=reader)["pages"] > 0
    refused = subprocess.run(
        [*GOSSAMER, "stop", "--control", crawl.url],
        env=os.environ | reader, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert refused.returncode == 1
    assert "403" in refused.stderr
    (crawl.control / "token").chmod(0o644)
    shown = subprocess.run(
        [*GOSSAMER, "status", "--out", str(crawl.out)], capture_output=True, text=True, check=False
    )
    assert shown.returncode == 1
    assert "chmod 600" in shown.stderr
    (crawl.control / "token").chmod(0o600)
    assert crawl.command("stop")["confirmed"]
    assert crawl.process is not None
    assert crawl.process.wait(60) == 0


def test_slow_and_retry_from_the_command_line(crawl: Served, web_log: Path):
    until(lambda: len(requests(web_log)) > 100, "the crawl is under way")
    host = hosts_of(web_log)[0]

    def told(*words: str) -> tuple[int, str]:
        done = subprocess.run(
            [*GOSSAMER, *words, "--out", str(crawl.out)],
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr

    code, text = told("slow", host, "--gap", "7s")
    assert (code, "at least 7.0 s between visits" in text) == (0, True), text
    assert crawl.get(f"/hosts/{host}")["override"] == 7.0
    assert told("slow", host, "--off")[0] == 0
    assert crawl.get(f"/hosts/{host}")["override"] is None
    assert told("retry", host)[0] == 0
    # A port need not be typed where the name is enough.
    name, _, port = host.rpartition(":")
    assert port.isdigit()
    code, text = told("slow", name, "--gap", "9s")
    assert (code, host in text) == (0, True), text
    assert crawl.get(f"/hosts/{host}")["override"] == 9.0
    # But a host may be blocked before it is met: there a name means what it says.
    assert told("block", name)[0] == 0
    assert crawl.get(f"/hosts/{name}")["blocked"]
    assert not crawl.get(f"/hosts/{host}")["blocked"]
    other = "several.test"
    for number in (81, 82):
        crawl.post(f"/hosts/{other}:{number}", {"action": "block"})
    code, text = told("slow", other, "--gap", "8s")
    assert (code, "with several ports" in text, f"{other}:81" in text) == (2, True, True), text
    for wrong in (
        ["slow", host],
        ["slow", host, "--gap", "7s", "--off"],
        ["slow", host, "--gap", "x"],
    ):
        code, text = told(*wrong)
        assert code == 2, text
        assert "gap" in text
