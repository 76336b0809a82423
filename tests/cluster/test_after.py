"""A cluster that has ended, seen by its directory: report, status, why, open; and who may go on with it."""

import contextlib
import json
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.audit.crawls import crawl, gossamer
from tests.cluster.clustering import GOSSAMER, LONG_LEASE, USUAL
from tests.control.opened import opened
from tests.control.serving import Served

from gossamer.simweb import Options, serve


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    out = tmp_path_factory.mktemp("ended") / "crawl"
    with serve(Options(hosts=8, pages=120, port=0, duplicates=0.1, dead_links=0.05)) as web:
        done = subprocess.run(
            [*GOSSAMER, "cluster", "--nodes", "2", web.url, "--scope", "any", "--allow-private", "--delay", "5ms",
             "--out", str(out), "--json", *USUAL, *LONG_LEASE],
            capture_output=True, text=True, timeout=200, check=False,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return {"out": out, "said": json.loads(done.stdout), "words": done.stderr}


@pytest.fixture(scope="module")
def view(ended: dict[str, Any]) -> Iterator[Served]:
    with opened(ended["out"]) as view:
        yield view


def lines(out: Path) -> list[tuple[str, dict[str, Any]]]:
    """Each line of the logs, with its node."""
    return [
        (file.parts[-3], json.loads(text))
        for file in sorted(out.glob("nodes/*/log/*.jsonl"))
        for text in file.read_text().splitlines()
    ]


def asked(*words: object) -> dict[str, Any]:
    done = gossamer(*words, "--json")
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_the_report_says_what_the_cluster_said(ended: dict[str, Any]) -> None:
    report = asked("report", ended["out"])
    names = ("pages", "bytes", "outcomes", "links_left_out", "urls_seen", "urls_queued")
    assert {name: report[name] for name in names} == {name: ended["said"][name] for name in names}
    assert (report["mode"], report["state"]) == ("cluster", "finished")
    assert report["nodes"] == ["n1", "n2"]
    assert report["lines"] == len(lines(ended["out"]))
    out = ended["out"]
    assert f"gossamer report {out}, or gossamer open {out}" in ended["words"]


def test_a_copy_without_states_has_the_same_figures(ended: dict[str, Any], tmp_path: Path) -> None:
    out = tmp_path / "copy"
    shutil.copytree(
        ended["out"], out, ignore=shutil.ignore_patterns("state", "control", "engine", "snapshots")
    )
    for found in (asked("report", out), asked("status", "--out", out)):
        for name in ("pages", "bytes", "outcomes"):
            assert found[name] == ended["said"][name], name
    url = next(line["url"] for _, line in lines(out) if line["outcome"] == "fetched")
    assert asked("why", url, "--out", out)["visits"][0]["outcome"] == "fetched"
    refused = gossamer("patterns", out)
    assert refused.returncode == 2
    assert "without its state" in refused.stderr


def test_the_status_of_its_end(ended: dict[str, Any]) -> None:
    status = asked("status", "--out", ended["out"])
    assert (status["mode"], status["activity"], status["pages"]) == (
        "cluster",
        "finished",
        ended["said"]["pages"],
    )
    said = gossamer("status", "--out", ended["out"])
    assert said.returncode == 0
    assert said.stdout.startswith("ended ")
    assert "It is finished" in said.stdout
    assert f"gossamer open {ended['out']}" in said.stdout


def test_the_owner_of_a_host_explains_its_urls(ended: dict[str, Any]) -> None:
    out = ended["out"]
    for owner in ("n1", "n2"):
        line = next(
            row for node, row in lines(out) if node == owner and row["outcome"] == "fetched"
        )
        account = asked("why", line["url"], "--out", out)
        assert account["node"] == owner
        assert account["visits"] == [line]
        assert account["host_state"]["name"] == line["host"]
        file = account["last_visit"]["warc_file"]
        assert (out / "nodes" / owner / "warc" / file).exists()
        said = gossamer("why", line["url"], "--out", out).stdout
        assert f"of node {owner}" in said
    assert asked("why", "http://nobody.test/", "--out", out)["seen"] is False


def test_it_is_seen_in_the_dashboard(ended: dict[str, Any], view: Served) -> None:
    status = view.get("/status")
    for name in ("pages", "bytes", "urls_seen", "urls_queued", "outcomes"):
        assert status[name] == ended["said"][name], name
    nodes = {row["id"]: row["pages"] for row in view.get("/nodes")}
    assert set(nodes) == {"n1", "n2"}
    assert sum(nodes.values()) == status["pages"]
    for node in nodes:
        assert view.get(f"/nodes/{node}/history", seconds=600)["times"] == []
    hosts = view.get("/hosts", limit=100)["hosts"]
    assert len(hosts) == status["hosts_known"]
    partitions = view.get("/partitions")["partitions"]
    assert {row["node"] for row in partitions} == {"n1", "n2"}
    assert sum(row["hosts"] for row in partitions) == len(hosts)
    for row in hosts:
        assert partitions[row["partition"]]["node"] == row["node"]
        assert view.get(f"/hosts/{row['name']}")["node"] == row["node"]
    refused = view.ask("POST", "/api/v1/commands", {"command": "resume"})
    assert refused.status == 409
    assert f"gossamer cluster --nodes 2 --resume --out {ended['out']}" in refused.json["detail"]


def test_each_kind_of_crawl_goes_on_with_its_own_command(
    ended: dict[str, Any], tmp_path: Path
) -> None:
    out = ended["out"]
    refused = gossamer("crawl", "--resume", "--out", out)
    assert refused.returncode == 2
    assert f"go on with: gossamer cluster --nodes 2 --resume --out {out}" in refused.stderr
    assert not (out / "state").exists()
    single = crawl(tmp_path / "single", ("--max-pages", "5"))
    refused = gossamer("cluster", "--resume", "--out", single.out)
    assert refused.returncode == 2
    assert f"go on with: gossamer crawl --resume --out {single.out}" in refused.stderr
    assert not (single.out / "nodes").exists()
    assert not (single.out / "control").exists()


def test_an_address_of_nobody_is_not_sent_the_token(ended: dict[str, Any], tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(ended["out"], copy)
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as listener:
        listener.setblocking(False)
        (copy / "control" / "url").write_text(f"http://127.0.0.1:{listener.getsockname()[1]}\n")
        gone = subprocess.Popen(["true"])
        gone.wait()
        (copy / "control" / "pid").write_text(f"{gone.pid}\n")
        assert asked("report", copy)["pages"] == ended["said"]["pages"]
        with pytest.raises(BlockingIOError):
            listener.accept()
