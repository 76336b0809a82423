"""Looking at a crawl that has ended changes nothing, works where nothing may be written, and tells the truth."""

import contextlib
import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.audit.crawls import crawl as crawled
from tests.audit.crawls import gossamer
from tests.cluster.clustering import LONG_LEASE, USUAL
from tests.control.opened import opened
from tests.control.serving import GOSSAMER, Served, served, until

from gossamer.simweb import Options, serve

URL = "http://127.1.1.1/"
LOOKS: dict[str, Callable[[Path], list[object]]] = {
    "status": lambda out: ["status", "--out", out],
    "status --json": lambda out: ["status", "--out", out, "--json"],
    "why": lambda out: ["why", visited(out), "--out", out],
    "report": lambda out: ["report", out],
    "report --json": lambda out: ["report", out, "--json"],
    "report --html": lambda out: ["report", out, "--html", out.with_name(f"{out.name}.html")],
    "patterns": lambda out: ["patterns", out],
    "aliases": lambda out: ["aliases", out],
}
OWN = {"token", "tokens", "token-read", "url", "pid", "audit.jsonl"}
"""What `gossamer open` may write, in `control/`."""


def visited(out: Path) -> str:
    """A URL of the log."""
    file = next(iter([*out.glob("log/*.jsonl"), *out.glob("nodes/*/log/*.jsonl")]))
    for text in file.read_text().splitlines():
        line = json.loads(text)
        if line["outcome"] == "fetched":
            return str(line["url"])
    raise AssertionError(file)


def digest(out: Path, *, without: frozenset[str] = frozenset()) -> dict[str, tuple[object, ...]]:
    """Every byte and time below a directory."""
    found: dict[str, tuple[object, ...]] = {}
    for path in sorted([out, *out.rglob("*")]):
        facts = path.stat()
        content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        found[str(path.relative_to(out))] = (
            content,
            facts.st_mtime_ns,
            facts.st_size,
            facts.st_mode,
        )
    return {name: row for name, row in found.items() if name not in without}


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl of one process that ended at a limit."""
    return crawled(
        tmp_path_factory.mktemp("alone") / "crawl",
        ("--max-pages", "40", "--delay", "5ms"),
        duplicates=0.2,
    ).out


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One that was killed after it wrote a visit that was not committed, and in the middle of a change of settings."""
    out = tmp_path_factory.mktemp("killed") / "crawl"
    with (
        serve(Options(hosts=2, pages=3000, port=0)) as web,
        served(out, web, "--delay", "20ms") as running,
    ):
        until(lambda: running.get("/status")["pages"] > 20, "there are pages")
        running.set(politeness__delay="30ms")
        running.kill()
    (log,) = out.glob("log/*.jsonl")
    lines = log.read_text().splitlines(keepends=True)
    last = next(line for line in reversed(lines) if json.loads(line)["outcome"] == "fetched")
    later = json.loads(last) | {"time": "2099-01-01T00:00:00.000000Z"}
    with log.open("a") as file:
        file.write(json.dumps(later) + "\n" + last[:40])
    (warc,) = out.glob("warc/*.open")
    with warc.open("ab") as file:
        file.write(b"half a record")
    with (out / "control" / "settings.jsonl").open("ab") as file:
        file.write(b'{"version":2,')
    return out


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("cluster") / "crawl"
    with serve(Options(hosts=8, pages=120, port=0)) as web:
        done = subprocess.run(
            [*GOSSAMER, "cluster", "--nodes", "2", web.url, "--scope", "any", "--allow-private", "--delay", "5ms",
             "--out", str(out), "--json", *USUAL, *LONG_LEASE],
            capture_output=True, text=True, timeout=200, check=False,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return out


@pytest.fixture(scope="module", params=["alone", "killed", "cluster"])
def ended(request: pytest.FixtureRequest) -> Path:
    out: Path = request.getfixturevalue(request.param)
    return out


@pytest.mark.parametrize("look", LOOKS)
def test_a_look_leaves_every_byte_and_time_as_it_was(ended: Path, look: str) -> None:
    words = LOOKS[look](ended)
    before = digest(ended)
    done = gossamer(*words)
    assert done.returncode == 0, done.stderr
    assert "state is left aside" not in done.stdout
    assert digest(ended) == before


def test_the_dashboard_writes_only_what_serves_itself(ended: Path, tmp_path: Path) -> None:
    out = tmp_path / "crawl"
    shutil.copytree(ended, out)
    (out / "control").mkdir(exist_ok=True)
    (out / "control" / "url").unlink(missing_ok=True)
    own = frozenset({"control", *(f"control/{name}" for name in OWN)})
    before = digest(out, without=own)
    with opened(out) as view:
        look_around(view, visited(out))
    assert digest(out, without=own) == before


def look_around(view: Served, url: str) -> None:
    assert view.get("/status")["pages"] > 0
    host = view.get("/hosts")["hosts"][0]["name"]
    for path in (
        f"/hosts/{host}",
        f"/hosts/{host}/detail",
        "/nodes",
        "/partitions",
        "/events",
        "/patterns",
    ):
        assert view.ask("GET", f"/api/v1{path}").status == 200, path
    assert view.get("/urls", url=url)["visits"]
    assert view.get("/log")["visits"]


@contextlib.contextmanager
def read_only(out: Path) -> Iterator[list[str]]:
    """Nothing below a directory may be written; gives what a command begins with, so that root may not either."""
    paths = [out, *out.rglob("*")]
    for path in paths:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        yield ["setpriv", "--bounding-set=-dac_override"] if os.geteuid() == 0 else []
    finally:
        for path in paths:
            path.chmod(0o755 if path.is_dir() else 0o644)


@pytest.mark.parametrize("look", LOOKS)
def test_a_directory_that_may_only_be_read_tells_the_same(
    ended: Path, look: str, tmp_path: Path
) -> None:
    out = tmp_path / "crawl"
    shutil.copytree(ended, out)
    words = LOOKS[look](out)
    if out.with_name(f"{out.name}.html") in words:
        words = [*words[:-1], tmp_path / "report.html"]
    usual = gossamer(*words)
    with read_only(out) as first:
        before = digest(out)
        written = subprocess.run(
            [*first, "touch", str(out / "x")], capture_output=True, check=False
        )
        assert written.returncode != 0
        done = subprocess.run(
            [*first, *GOSSAMER, *map(str, words)],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert digest(out) == before
    assert (done.returncode, done.stderr) == (0, usual.stderr)
    assert without_room(done.stdout) == without_room(usual.stdout)


def without_room(said: str) -> object:
    """What was said, but for the room that is left on the disk."""
    if not said.startswith("{"):
        return said
    return {name: value for name, value in json.loads(said).items() if name != "disk_free"}


def test_the_dashboard_opens_where_nothing_may_be_written(alone: Path, tmp_path: Path) -> None:
    out = tmp_path / "crawl"
    shutil.copytree(alone, out)
    with read_only(out) as first:
        before = digest(out)
        errors = tmp_path / "errors"
        with errors.open("wb") as said:
            process = subprocess.Popen(
                [*first, *GOSSAMER, "open", str(out), "--port", "0"], stderr=said
            )
        try:
            until(lambda: "read-only: " in errors.read_text(), "the dashboard is open")
            assert "still queued" in errors.read_text()
            # Others may look meanwhile, and nobody may go on with the crawl.
            assert gossamer("report", out).returncode == 0
        finally:
            process.terminate()
            assert process.wait(30) == 0, errors.read_text()
        assert digest(out) == before


def test_what_a_killed_crawl_did_not_commit_is_not_counted(killed: Path, tmp_path: Path) -> None:
    report = json.loads(gossamer("report", killed, "--json").stdout)
    status = json.loads(gossamer("status", "--out", killed, "--json").stdout)
    (note,) = [note for note in report["notes"] if "was killed" in note]
    assert "makes those visits again" in note
    assert report["pages"] == status["pages"] == sum(report["depths"].values()) > 20
    assert report["outcomes"] == status["outcomes"]
    assert report["ended"] == pytest.approx(status["time"], abs=0.01)
    assert report["ended"] < 4e9, "the visit that was not committed"
    out = tmp_path / "crawl"
    shutil.copytree(killed, out)
    with opened(out) as view:
        assert view.get("/status")["outcomes"] == status["outcomes"]
        assert view.get("/history", seconds=3600)["columns"]["pages"][-1] == status["pages"]
    # The next start counts the same.
    done = gossamer("crawl", "--resume", "--out", out, "--json", "--max-pages", status["pages"])
    said: dict[str, Any] = json.loads(done.stdout)
    assert (said["pages"], said["outcomes"]) == (status["pages"], status["outcomes"])
    again = json.loads(gossamer("report", out, "--json").stdout)
    assert [note for note in again["notes"] if "was killed" in note] == []
    assert again["outcomes"] == report["outcomes"]


def test_who_looks_keeps_the_crawl_from_going_on_and_nobody_from_looking(
    alone: Path, tmp_path: Path
) -> None:
    out = tmp_path / "crawl"
    shutil.copytree(alone, out)
    with opened(out) as view:
        assert gossamer("report", out).returncode == 0
        assert json.loads(gossamer("patterns", out, "--json").stdout)["taken_up"] == {}
        refused = gossamer("crawl", "--resume", "--out", out)
        assert refused.returncode != 0
        again = gossamer("open", out)
        assert again.returncode == 2
        assert f"is open already; see {view.url}" in again.stderr
