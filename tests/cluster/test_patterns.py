"""Doubted URL patterns of a cluster: each node tells its own, and takes up what the operator names."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cluster.clustering import GOSSAMER, LONG_LEASE, Cluster
from tests.control.doubting import PAGES, Web, doubtful, site
from tests.control.serving import Served, until
from tests.crawl.pages import Answer, serving

HOSTS = [f"site{number}.test" for number in range(6)]
"""Enough that each of two nodes owns some, most of the time."""


@pytest.fixture
def web() -> Iterator[Web]:
    """Such a site on each of some hosts, and a start page that leads to all of them."""
    pages: dict[str, str | Answer] = {
        f"//{host}{path}": answer
        for number, host in enumerate(HOSTS)
        for path, answer in site(seed=number).items()
    }
    links = "".join(f'<a href="http://{host}:PORT/">{host}</a>' for host in HOSTS)
    pages["//start.test/"] = links
    with serving(pages) as served:
        yield Web(f"http://start.test:{served.port}/", served)


def forms(web: Web, host: str) -> int:
    return len({path for path in web.forms if path.startswith(f"//{host}/")})


def test_patterns_of_all_nodes_are_seen_and_taken_up(web: Web, tmp_path: Path) -> None:
    named = web.pages.named("start.test", *HOSTS)
    cluster = Cluster(web.as_simweb(), tmp_path / "out", *LONG_LEASE, *named, expect=2, stay=True)
    crawl = Served(cluster.out, web.as_simweb())
    try:
        cluster.start("n1", "n2")
        until((crawl.control / "url").exists, "the API")

        def found() -> list[dict[str, Any]] | None:
            answer = crawl.ask("GET", "/api/v1/patterns")
            status = crawl.ask("GET", "/api/v1/status")
            if answer.status != 200 or status.json.get("activity") != "finished":
                return None
            rows: list[dict[str, Any]] = answer.json["patterns"]
            hosts = {row["host"].partition(":")[0] for row in rows if row["set_aside"]}
            return rows if hosts == set(HOSTS) else None

        rows = until(found, "every host has a doubted pattern")
        assert isinstance(rows, list)
        for row in rows:
            owner = crawl.ask("GET", f"/api/v1/hosts/{row['host']}").json["node"]
            assert row["node"] == owner
        aside = sum(row["set_aside"] for row in rows)
        until(lambda: crawl.get("/status")["urls_set_aside"] == aside, "the status counts them")
        host = rows[0]["host"]
        assert {row["host"] for row in crawl.get("/patterns", host=host)["patterns"]} == {host}
        texts = [event["text"] for event in crawl.get("/events")["events"]]
        assert any("come last from now on" in text for text in texts)
        wrong = crawl.ask("POST", "/api/v1/patterns/take_up", {"host": "other.test"})
        assert wrong.json["code"] == "not_doubted"
        taken = crawl.command("patterns", "--take-up", host)["taken_up"][host]
        assert taken == sum(row["set_aside"] for row in rows if row["host"] == host)
        name = host.partition(":")[0]
        until(lambda: forms(web, name) == PAGES, "every form of the host is visited")
        until(lambda: crawl.get("/patterns", host=host)["total"] == 0, "none is doubted")
        others = {other: forms(web, other) for other in HOSTS if other != name}
        assert max(others.values()) < PAGES, "only what was named is taken up"
    finally:
        cluster.end()


def ran(*words: str | Path) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [*GOSSAMER, *map(str, words)], check=False, capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, done.stderr
    return done


def test_a_cluster_that_has_ended_is_asked_by_its_directory(tmp_path: Path) -> None:
    out = tmp_path / "out"
    crawl: list[str | Path] = ["cluster", "--nodes", "2", "--out", out, *LONG_LEASE]
    with doubtful() as web:
        options = ["--allow-private", "--delay", "0s", "--set", "control.port=0"]
        said = ran(*crawl, web.url, *options).stderr
        assert said.split("take them up, with: ")[1].splitlines()[0] == f"gossamer patterns {out}"
        row = json.loads(ran("patterns", out, "--json").stdout)["patterns"][0]
        assert row["set_aside"] == PAGES - len(web.forms) > 0
        assert json.loads(ran("aliases", out, "--json").stdout) == {"aliases": [], "undone": []}
        taken = ran("patterns", out, "--take-up", row["host"]).stdout
        go_on = f"gossamer cluster --nodes 2 --resume --out {out}"
        assert f"{row['set_aside']} URLs of {row['host']} are queued again; go on with: {go_on}" in taken  # fmt: skip
        # What was changed after its end is what counts.
        report = json.loads(ran("report", out, "--json").stdout)
        status = json.loads(ran("status", "--out", out, "--json").stdout)
        for told in (report, status):
            assert (told["urls_queued"], told["urls_set_aside"]) == (row["set_aside"], 0)
        assert (report["state"], status["activity"]) == ("stopped", "stopped")
        ran(*crawl, "--resume")
        assert len(web.forms) == PAGES
    assert json.loads(ran("patterns", out, "--json").stdout)["total"] == 0
