"""What a crawl takes on the disk: everything below its directory, while a cluster runs and afterwards."""

import contextlib
import json
import signal
import subprocess
from pathlib import Path

from tests.audit.crawls import gossamer
from tests.cluster.clustering import GOSSAMER, LONG_LEASE, USUAL
from tests.control.opened import opened
from tests.control.serving import Served, until

from gossamer.control.leader.disk_watch import DiskWatch
from gossamer.simweb import Options, serve


def taken(directory: Path) -> int:
    """As `du` counts it, without the directory itself."""
    total = 0
    for path in directory.rglob("*"):
        with contextlib.suppress(FileNotFoundError):
            total += path.lstat().st_blocks * 512
    return total


def taken_by(directory: Path) -> int:
    """The directory too."""
    return taken(directory) + directory.lstat().st_blocks * 512


async def test_all_is_counted_but_the_nodes_that_count_themselves(tmp_path: Path) -> None:
    control = tmp_path / "control"
    for name in ("control", "engine", "snapshots", "nodes/n1", "nodes/n2"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "file").write_bytes(b"x" * 100_000)
    counted = ["n1", "elsewhere"]
    watch = DiskWatch(control, lambda: counted)
    await watch.look()
    assert watch.bytes == taken(control), "a directory of its own: its own files"
    (tmp_path / "crawl.toml").write_text("")
    await watch.look()
    assert watch.bytes == taken(tmp_path) - taken_by(tmp_path / "nodes" / "n1") > 300_000
    counted.append("n2")
    await watch.look()
    assert 300_000 < watch.bytes < 400_000


def test_a_cluster_counts_engine_snapshots_and_control_too(tmp_path: Path) -> None:
    out = tmp_path / "crawl"
    with serve(Options(hosts=8, pages=3000, port=0)) as web:
        with (tmp_path / "answer").open("wb") as answer, (tmp_path / "words").open("wb") as words:
            process = subprocess.Popen(
                [*GOSSAMER, "cluster", "--nodes", "2", web.url, "--scope", "any", "--allow-private", "--delay", "20ms",
                 "--out", str(out), "--json", *USUAL, *LONG_LEASE],
                stdin=subprocess.DEVNULL, stdout=answer, stderr=words,
            )  # fmt: skip
        try:
            running = Served(out, None)
            until((running.control / "url").exists, "the API")
            until(lambda: running.ask("GET", "/readyz").status == 200, "a control node")
            until(lambda: running.get("/status")["pages"] > 50, "some pages")
            running.post("/commands", {"command": "pause"})

            def whole() -> bool:
                told, there = running.get("/status")["disk"], taken(out)
                nodes = sum(taken(place) for place in (out / "nodes").iterdir())
                return bool(nodes + taken(out / "engine") < told < 1.05 * there)

            until(whole, "all is counted")
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 130, (tmp_path / "words").read_text()
        finally:
            process.kill()
            process.wait()
    there = taken(out)
    said = json.loads((tmp_path / "answer").read_text())
    assert said["disk"] == there
    status = json.loads(gossamer("status", "--out", out, "--json").stdout)
    assert status["disk"] == there
    with opened(out) as view:
        assert view.get("/status")["disk"] >= there
        rows = view.get("/nodes")
        assert {row["id"]: row["disk"] for row in rows} == {
            place.name: taken(place) for place in (out / "nodes").iterdir()
        }
        # What nobody wrote down is not 0.
        for row in rows:
            for name in ("rss", "pages_per_second", "uptime", "last_heartbeat", "version", "inner"):
                assert row[name] is None, name
            for name in ("pages", "urls_seen", "urls_queued", "hosts_known"):
                assert row[name] is not None, name
        for name in ("urls_seen", "urls_queued", "hosts_known"):
            assert sum(row[name] for row in rows) == view.get("/status")[name], name
