"""What is wrong is told clearly, with the right exit code, and nothing is lost."""

import asyncio
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from tests.cluster.clustering import GOSSAMER, SLOW, Cluster
from tests.crawl.crawling import until

from gossamer.cli.main import main
from gossamer.cluster import requests
from gossamer.cluster.messages import Crawl, encode
from gossamer.cluster.snapshots import Snapshots
from gossamer.cluster.summary import Summary
from gossamer.engine import Access, Server, connect
from gossamer.simweb import SimWeb

Maker = Callable[..., Cluster]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*GOSSAMER, *arguments], capture_output=True, text=True, check=False, timeout=60
    )


def node(tmp_path: Path, engine: str, *more: str) -> subprocess.CompletedProcess[str]:
    return run(
        "node", "--engine", engine, "--out", str(tmp_path / "node"),
        "--snapshots", str(tmp_path / "snapshots"), *more,
    )  # fmt: skip


@pytest.mark.parametrize("command", ["node", "control", "nodes"])
def test_wrong_address(tmp_path: Path, command: str) -> None:
    where = ["--engine", "nats://127.0.0.1:1"]
    if command == "nodes":
        ended = run("nodes", "list", *where)
    elif command == "control":
        ended = run("control", *where, "--out", str(tmp_path))
    else:
        ended = node(tmp_path, "nats://127.0.0.1:1")
    assert ended.returncode == 1
    assert "no engine answers (nats://127.0.0.1:1: connection refused" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_missing_settings(
    tmp_path: Path,
    server: Server,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def run_here(*arguments: str) -> int:
        """The same command line without another process."""
        monkeypatch.setattr(sys, "argv", ["gossamer", *arguments])
        return main()

    usual = ["--out", str(tmp_path / "node"), "--snapshots", str(tmp_path / "snapshots")]
    for arguments, words in (
        (["--out", str(tmp_path)], "no engine is named"),
        (["--engine", server.url, "--out", str(tmp_path)], "no place for snapshots"),
        (["--engine", server.url, *usual, "--name", "a.b"], "node name"),
        (["--engine", server.url, *usual, "--crawl", "a b"], "cluster.name"),
        (
            ["--engine", server.url, *usual, "--set", "cluster.leese=1s"],
            "did you mean cluster.lease?",
        ),
    ):
        assert run_here("node", *arguments) == 2
        assert words in capsys.readouterr().err
    monkeypatch.setattr(requests, "NOBODY", 0.5)
    assert run_here("nodes", "list", "--engine", server.url) == 1
    assert "no control node answers" in capsys.readouterr().err


def test_a_crawl_of_another_version(tmp_path: Path, server: Server) -> None:
    async def begin() -> None:
        engine = await connect(Access([server.url]), "crawl", "test")
        for name in ("map", "nodes", "crawl"):
            await engine.bucket(f"crawl_{name}").make(1)
        crawl = Crawl(version=9, name="crawl", created=0.0, partitions=4, settings="{}")
        await engine.bucket("crawl_crawl").put("crawl", encode(crawl))
        await engine.close()

    asyncio.run(begin())
    ended = node(tmp_path, server.url)
    assert ended.returncode == 2
    assert "the control node speaks version 9 of the cluster's protocol" in ended.stderr
    assert "run the same Gossamer everywhere" in ended.stderr


def test_a_directory_of_another_node(tmp_path: Path, server: Server) -> None:
    (tmp_path / "node").mkdir()
    known = {"node": "other", "crawl": "crawl", "incarnation": "x"}
    (tmp_path / "node/identity.json").write_bytes(msgspec.json.encode(known))
    ended = node(tmp_path, server.url)
    assert ended.returncode == 2
    assert "is of node other of crawl crawl" in ended.stderr


def notes(status: Summary) -> str:
    return " ".join(text for node in status.nodes for text in node.notes)


def test_a_broken_snapshot_waits_for_its_repair(cluster: Maker, web: SimWeb) -> None:
    one = cluster(delay=SLOW, snapshot_every="1s")
    one.start()
    one.until_requests(300)
    store = Snapshots(str(one.out / "snapshots"), "crawl")

    async def newest_of_n2() -> dict[int, str]:
        rows = [await store.latest(partition) for partition in range(32)]
        return {row.partition: row.name for row in rows if row and row.node == "n2"}

    until(lambda: asyncio.run(newest_of_n2()), "a snapshot of n2", 60)
    one.nodes["n2"].kill()
    partition, name = next(iter(asyncio.run(newest_of_n2()).items()))
    file = one.out / f"snapshots/crawl/partitions/{partition:05d}/{name}.snapshot"
    good = file.read_bytes()
    file.write_bytes(good[:-1] + bytes([good[-1] ^ 1]))
    told = one.until_status(
        lambda s: f"partition {partition}: snapshot" in notes(s), "the error to be told"
    )
    assert "is broken" in notes(told)
    file.write_bytes(good)
    one.hurry()
    one.until_done()
    one.check_union()


def test_a_full_stream_holds_visits_back_frees_itself_and_loses_nothing(
    cluster: Maker, web: SimWeb
) -> None:
    small = ["--set", "cluster.links_bytes=20KiB", "--set", "cluster.backlog=2KiB"]
    one = cluster(*small, delay="100ms")
    one.start()
    # Nobody does anything: it frees itself, perhaps before anybody has looked at a status.
    one.until_done()
    one.check_union()
    waited = [line for line in one.said().splitlines() if "links wait" in line]
    assert any("maximum bytes" in line for line in waited), one.said()
    assert "the stream of links is full" in one.said()
