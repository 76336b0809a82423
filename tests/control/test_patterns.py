"""URL patterns that bring nothing new: seen and taken up while the crawl runs, by the API and by the command line."""

import json
import subprocess
from pathlib import Path
from typing import Any

from tests.control.doubting import PAGES, Web, doubtful, served_doubtful, served_random
from tests.control.serving import GOSSAMER, Served, until
from tests.crawl.pages import crawl as crawl_to_the_end


def finished(crawl: Served) -> dict[str, Any]:
    def done() -> dict[str, Any] | None:
        status: dict[str, Any] = crawl.get("/status")
        return status if status["activity"] == "finished" and status["urls_set_aside"] else None

    found = until(done, "the crawl is done but for what is set aside")
    assert isinstance(found, dict)
    return found


def test_doubted_patterns_are_listed_with_their_evidence_and_told_as_events(tmp_path: Path) -> None:
    with served_doubtful(tmp_path / "out") as (crawl, web):
        status = finished(crawl)
        page = crawl.get("/patterns")
        assert page["total"] == len(page["patterns"]) == 1
        row = page["patterns"][0]
        assert row["host"] in web.url
        assert row["pattern"].startswith("/wiki/")
        assert row["pattern"].endswith("/edit (view)")
        assert "copies" in row["reason"]
        assert row["visits"] == len(web.forms)
        assert row["set_aside"] == status["urls_set_aside"] == PAGES - len(web.forms)
        assert crawl.get("/patterns", host=row["host"]) == page
        assert crawl.get("/patterns", host="other.example")["total"] == 0
        assert not crawl.get("/events", kind="host")["events"]
        events = crawl.get("/events", kind="host_decided")["events"]
        assert events[0]["host"] == row["host"]
        assert f"URLs like {row['pattern']} come last from now on" in events[0]["text"]
        metrics = crawl.ask("GET", "/metrics").body.decode()
        assert f"gossamer_urls_set_aside {row['set_aside']}" in metrics


def all_taken_up(crawl: Served, web: Web) -> None:
    until(lambda: len(web.forms) == PAGES, "every form is visited")
    until(lambda: crawl.get("/status")["urls_set_aside"] == 0, "nothing is set aside any more")
    assert crawl.get("/patterns") == {"patterns": [], "total": 0, "parameters": []}


def test_what_is_set_aside_is_taken_up_and_recorded(tmp_path: Path) -> None:
    with served_doubtful(tmp_path / "out") as (crawl, web):
        aside = finished(crawl)["urls_set_aside"]
        row = crawl.get("/patterns")["patterns"][0]
        named = {"host": row["host"], "pattern": row["pattern"]}
        for wrong in ({"host": "other.example"}, named | {"pattern": "/nothing/*"}):
            refused = crawl.ask("POST", "/api/v1/patterns/take_up", wrong)
            assert (refused.status, refused.json["code"]) == (404, "not_doubted")
        looking = crawl.ask(
            "POST", "/api/v1/patterns/take_up", named, token=crawl.token("token-read")
        )
        assert looking.status == 403
        taken = crawl.post("/patterns/take_up", named)
        assert taken == {"host": row["host"], "patterns": 1, "urls": aside}
        all_taken_up(crawl, web)
        last = crawl.get("/audit")[-1]
        assert (last["what"], last["target"]) == ("take_up", row["host"])
        assert last["new"] == {"pattern": row["pattern"]}
        told = [event["text"] for event in crawl.get("/events")["events"] if event["who"]]
        assert f"{aside} URLs are queued again" in told[-1]


def test_a_taking_up_that_is_killed_goes_on(tmp_path: Path) -> None:
    with served_doubtful(tmp_path / "out") as (crawl, web):
        finished(crawl)
        row = crawl.get("/patterns")["patterns"][0]
        # Paused: no visit can be made before the process is killed.
        crawl.post("/commands", {"command": "pause"})
        crawl.post("/patterns/take_up", {"host": row["host"]})
        assert len(web.forms) < PAGES
        crawl.kill()
        crawl.start("--stay", resume=True)
        all_taken_up(crawl, web)


def command(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*GOSSAMER, *map(str, words)], check=False, capture_output=True, text=True, timeout=60
    )


def test_one_command_for_a_crawl_that_runs(tmp_path: Path) -> None:
    with served_doubtful(tmp_path / "out") as (crawl, web):
        aside = finished(crawl)["urls_set_aside"]
        status = command("status", "--out", crawl.out)
        assert f"set aside: {aside} URLs" in status.stdout
        assert f"gossamer patterns {crawl.out}" in status.stdout
        shown = command("patterns", crawl.out)
        assert shown.returncode == 0, shown.stderr
        assert f"{aside} URLs set aside; of " in shown.stdout
        found = crawl.command("patterns")
        assert found["total"] == 1
        host = found["patterns"][0]["host"]
        wrong = command("patterns", crawl.out, "--take-up", "other.example")
        assert wrong.returncode == 2
        assert (
            f"the crawl knows no host other.example; name one of those of which something was found: {host}"
            in wrong.stderr
        )
        wrong = command("patterns", crawl.out, "--take-up", host, "--pattern", "/nothing/*")
        assert wrong.returncode == 2
        assert f"the pattern /nothing/* of {host} is not doubted" in wrong.stderr
        taken = crawl.command("patterns", "--take-up", host)
        assert taken["taken_up"] == {host: aside}
        all_taken_up(crawl, web)


def test_one_command_for_a_crawl_that_has_ended(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with doubtful() as web:
        done = crawl_to_the_end(web.url, "--scope", "any", out=out)
        aside = done.summary["urls_set_aside"]
        assert aside == PAGES - len(web.forms)
        assert f"{aside} URLs are set aside" in done.said
        assert f"gossamer patterns {out}" in done.said
        found = json.loads(command("patterns", "--out", out, "--json").stdout)
        row = found["patterns"][0]
        taken = command("patterns", out, "--take-up", row["host"])
        assert f"{aside} URLs of {row['host']} are queued again; go on with: " in taken.stdout
        again = command("patterns", out, "--take-up", row["host"], "--pattern", "?none")
        assert again.returncode == 2
        assert "nothing was found about the parameter none" in again.stderr
        crawl_to_the_end("--resume", out=out)
        assert len(web.forms) == PAGES
    assert json.loads(command("patterns", out, "--json").stdout)["total"] == 0


def test_a_crawl_that_runs_without_an_api_is_named_as_such(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with doubtful() as web:
        process = subprocess.Popen(
            [*GOSSAMER, "crawl", web.url, "--allow-private", "--delay", "2s", "--out", str(out)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            until(lambda: web.pages.asked, "the crawl is under way")
            refused = command("patterns", out)
        finally:
            process.kill()
            process.wait(60)
    assert refused.returncode == 2
    assert "runs without a control API" in refused.stderr
    assert "--serve" in refused.stderr
    nothing = command("patterns", tmp_path / "nothing")
    assert nothing.returncode == 2
    assert "holds no crawl" in nothing.stderr


def test_a_host_that_is_not_known_is_no_host_without_findings(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with doubtful() as web:
        crawl_to_the_end(web.url, "--scope", "any", out=out)
    name = web.url.split("/")[2]
    for wrong in ("other.example", "127.0.0.1"):
        for option in ("--host", "--take-up"):
            refused = command("patterns", out, option, wrong)
            assert refused.returncode == 2, refused.stdout
            assert f"the crawl knows no host {wrong}" in refused.stderr
            assert name in refused.stderr
    assert "name the port too" in command("patterns", out, "--host", "127.0.0.1").stderr
    # Spelt as a URL may be spelt.
    spelt = command("patterns", out, "--host", name.replace("127.0.0.1", "0x7f.1"), "--json")
    assert json.loads(spelt.stdout)["total"] == 1
    # Nothing is done where something is wrong.
    half = command("patterns", out, "--take-up", name, "--take-up", "other.example")
    assert half.returncode == 2
    row = json.loads(command("patterns", out, "--json").stdout)["patterns"][0]
    assert (row["set_aside"] > 0, row["taken_up"]) == (True, False)


def test_parameters_of_a_crawl_that_runs(tmp_path: Path) -> None:
    with served_random(tmp_path / "out") as (crawl, web):
        until(lambda: crawl.get("/status")["activity"] == "finished", "the crawl is done")
        page = crawl.get("/patterns")
        row = page["parameters"][0]
        assert (row["host"] in web.url, row["parameter"], row["state"]) == (True, "ref", "learnt")
        assert row["evidence"]
        assert crawl.get("/patterns", host=row["host"])["parameters"] == page["parameters"]
        assert crawl.get("/patterns", host="other.example")["parameters"] == []
        said = command("patterns", crawl.out).stdout
        assert f"?ref: changes nothing, so links lose it; {row['evidence']}" in said
        # A name is found however it is spelt.
        spelt = row["host"].replace("127.0.0.1", "0x7f.1")
        assert "?ref: changes nothing" in command("patterns", crawl.out, "--host", spelt).stdout
        wrong = crawl.ask(
            "POST", "/api/v1/patterns/take_up", {"host": row["host"], "pattern": "?other"}
        )
        assert (wrong.status, wrong.json["code"]) == (404, "not_doubted")
        crawl.command("patterns", "--take-up", row["host"], "--pattern", "?ref")
        assert {row["state"] for row in crawl.get("/patterns")["parameters"]} == {"kept"}
        told = [event["text"] for event in crawl.get("/events")["events"] if event["who"]]
        assert "URLs with the parameter ref taken up" in told[-1]


def test_help_names_the_directory_that_is_taken() -> None:
    said = command("patterns", "--help").stdout
    assert "crawl-out" in said
    assert "not ." not in said
