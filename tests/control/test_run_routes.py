"""`GET /runs` of a crawl that runs, of a cluster, of a control node started by itself, and of a crawl that has ended."""

import shutil
import signal
import subprocess
from pathlib import Path

from tests.control.opened import opened
from tests.control.serving import GOSSAMER, Served, served, until

from gossamer.library.runs import RUNS, read_runs
from gossamer.simweb import Options, SimWeb, serve


def test_runs_while_it_runs_and_after_it(tmp_path: Path) -> None:
    with (
        serve(Options(hosts=5, pages=1000, port=0)) as web,
        served(tmp_path / "crawl", web, "--delay", "20ms") as crawl,
    ):
        until(lambda: crawl.get("/status")["pages"] > 20, "there are pages")
        assert crawl.end() == 0
        crawl.start(resume=True)
        pages = crawl.get("/status")["pages"]
        until(lambda: crawl.get("/status")["pages"] > pages + 20, "there are more pages")
        answer = crawl.get("/runs")
        assert answer["go_on"] is None
        assert [run["state"] for run in answer["runs"]] == ["running", "stopped"]
        assert answer["runs"][0]["ended"] is None
        assert answer["runs"][0]["pages"] > 20
        assert answer["runs"][0]["resumed"] is True
        first = crawl.get("/runs", limit=1)
        assert first["next"] == 2
        second = crawl.get("/runs", limit=1, before=first["next"])
        assert [run["number"] for run in first["runs"] + second["runs"]] == [2, 1]
        assert second["next"] is None
        # As after a power cut.
        crawl.kill()
    check_after_a_kill(crawl)


def check_after_a_kill(crawl: Served) -> None:
    with opened(crawl.out) as view:
        answer, status = view.get("/runs"), view.get("/status")
    killed, stopped = answer["runs"]
    assert (killed["state"], killed["ended"], stopped["state"]) == ("killed", None, "stopped")
    assert killed["pages"] + stopped["pages"] == status["pages"]
    assert answer["go_on"] == f"gossamer crawl --resume --out {crawl.out}"
    assert status["note"].startswith("It was killed; ")
    # Of a copy without a state, which nobody can go on with, the log tells the pages.
    copy = crawl.out.with_name("copy")
    shutil.copytree(crawl.out, copy, ignore=shutil.ignore_patterns("state", "control"))
    with opened(copy) as view:
        answer = view.get("/runs")
        assert answer["go_on"] is None
        assert sum(run["pages"] for run in answer["runs"]) == view.get("/status")["pages"]
    # A crawl that was made before runs were written down.
    (copy / RUNS).unlink()
    with opened(copy) as view:
        assert view.get("/runs") == {"runs": [], "next": None, "go_on": None}


def test_runs_of_a_cluster_are_those_of_its_directory(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with serve(Options(hosts=5, pages=1000, port=0)) as web:
        first = cluster(out, web, "--max-pages", "20")
        assert first.wait(120) == 0, (tmp_path / "said").read_text()
        [before] = read_runs(out)
        process = cluster(out, None, "--max-pages", "100000", "--set", "politeness.delay=50ms")
        crawl = Served(out, web)
        try:
            until((crawl.control / "url").exists, "the API")
            until(lambda: crawl.ask("GET", "/readyz").status == 200, "a reading")
            until(lambda: crawl.get("/status")["pages"] > (before.pages or 0) + 5, "more pages")
            running, ended = crawl.get("/runs")["runs"]
            assert (running["state"], running["kind"]) == ("running", "cluster")
            assert running["pages"] > 5
            assert (ended["state"], ended["pages"]) == ("limit_reached", before.pages)
            process.send_signal(signal.SIGINT)
            assert process.wait(120) == 130
        finally:
            process.kill()
            process.wait()


def cluster(out: Path, web: SimWeb | None, *options: str) -> subprocess.Popen[bytes]:
    begun = ["--resume"] if web is None else [web.url, "--scope", "any", "--allow-private"]
    command = [*GOSSAMER, "cluster", *begun, "--out", str(out), "--nodes", "1"]
    with out.with_name("said").open("ab") as said:
        return subprocess.Popen(
            [*command, "--set", "control.port=0", "--set", "cluster.lease=20s", *options],
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
        )


def test_a_control_node_by_itself_knows_no_runs(quiet_cluster: Served) -> None:
    """Also where its directory lies in one that holds runs, which are of another crawl."""
    other = quiet_cluster.out / RUNS
    other.write_text(
        '{"what":"begin","time":1,"kind":"crawl","resumed":false,"pages":0,"version":"1"}\n'
    )
    try:
        assert quiet_cluster.get("/runs") == {"runs": [], "next": None, "go_on": None}
    finally:
        other.unlink()
    # Its starts are told where the dashboard says.
    until(lambda: led(quiet_cluster), "an event that says who leads")


def led(control: Served) -> bool:
    events = control.get("/events", kind="control")["events"]
    return any("leads" in event["text"] for event in events)
