"""`gossamer crawls`: the crawls of a folder, whatever became of them, and nothing else that is there."""

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.audit.crawls import crawl
from tests.cli.offered import GOSSAMER
from tests.control.opened import opened
from tests.control.serving import Served, until

from gossamer.crawls import listing
from gossamer.crawls.listing import list_crawls
from gossamer.simweb import Options, serve

EVIL = "evil\x1b[31m\nname"
WEB = Options(hosts=10, pages=20_000, host_skew=0.0, port=0)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A finished, a killed, an old and a running crawl, and junk."""
    folder = tmp_path_factory.mktemp("crawls")
    done = crawl(folder / "done", ("--delay", "0s"), hosts=2, pages=20)
    shutil.copytree(done.out, folder / "old")
    (folder / "old" / "runs.jsonl").unlink()
    (folder / "photos").mkdir()
    (folder / "photos" / "a.jpg").touch()
    (folder / "notes.txt").touch()
    (folder / "loop").symlink_to("loop")
    (folder / ".hidden").mkdir()
    (folder / ".hidden" / "crawl.toml").touch()
    with serve(WEB) as web:
        killed, running = (Served(folder / name, web) for name in ("killed", "running"))
        try:
            killed.start("--delay", "1s")
            killed.kill()
            running.start("--delay", "1s")
            yield folder
        finally:
            killed.kill()
            running.kill()


def listed(folder: Path) -> dict[str, Any]:
    told = subprocess.run(
        [*GOSSAMER, "crawls", str(folder), "--json"], capture_output=True, text=True, check=True
    )
    rows = json.loads(told.stdout)["crawls"]
    return {row["name"]: row for row in rows}


def said(folder: Path, columns: int) -> str:
    told = subprocess.run(
        [*GOSSAMER, "crawls"], capture_output=True, text=True, check=True, cwd=folder,
        env=os.environ | {"COLUMNS": str(columns)},
    )  # fmt: skip
    assert told.stderr == ""
    return told.stdout


def test_each_is_told_with_how_it_stands(folder: Path) -> None:
    rows = listed(folder)
    assert {name: row["state"] for name, row in rows.items()} == {
        "done": "finished", "killed": "killed", "old": "unknown", "running": "running",
    }  # fmt: skip
    done, running, killed = rows["done"], rows["running"], rows["killed"]
    assert done["pages"] > 0
    assert (done["runs"], done["kind"], done["dashboard"]) == (1, "crawl", None)
    assert done["began"] < done["ended"] < running["began"]
    assert running["dashboard"] == (folder / "running/control/url").read_text().strip()
    assert isinstance(running["pages"], int)
    assert (killed["ended"], killed["dashboard"], killed["runs"]) == (None, None, 1)
    assert (rows["old"]["pages"], rows["old"]["runs"], rows["old"]["began"]) == (None, 0, None)
    assert next(iter(rows)) == "running", "those begun last come first"


@pytest.mark.parametrize("columns", [80, 140])
def test_the_text_fits_the_terminal(folder: Path, columns: int) -> None:
    text = said(folder, columns)
    assert max(map(len, text.splitlines())) <= columns, text
    lines = {line.split()[0]: line for line in text.splitlines() if line.strip()}
    assert "finished" in lines["done"]
    assert "not known" in lines["old"]
    assert "killed" in lines["killed"]
    assert "running: dashboard: http://127.0.0.1:" in text
    for junk in ("photos", "notes", "loop", ".hidden"):
        assert junk not in text


def test_a_pause_is_told(folder: Path) -> None:
    crawl = Served(folder / "running", None)
    crawl.post("/commands", {"command": "pause"})
    until(lambda: listed(folder)["running"]["state"] == "paused", "the pause is told")
    crawl.post("/commands", {"command": "resume"})
    until(lambda: listed(folder)["running"]["state"] == "running", "it goes on")


def test_a_crawl_that_is_open_is_told_with_its_address(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder / "done", tmp_path / "done")
    with opened(tmp_path / "done") as view:
        row = listed(tmp_path)["done"]
        assert (row["state"], row["running"], row["dashboard"]) == ("finished", False, view.url)
        # With its address, which is no sign that the copy is open too.
        shutil.copytree(tmp_path / "done", tmp_path / "copy")
        assert listed(tmp_path)["copy"]["dashboard"] is None


def test_a_crawl_of_an_older_version_runs_if_its_state_is_held(
    folder: Path, tmp_path: Path
) -> None:
    shutil.copytree(folder / "old", tmp_path / "old")
    held = "import fcntl, sys; f = open(sys.argv[1], 'ab'); fcntl.flock(f, fcntl.LOCK_EX); print(1, flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", held, str(tmp_path / "old/state/lock")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        process.stdout.readline()
        assert listed(tmp_path)["old"]["state"] == "running"
        process.send_signal(signal.SIGKILL)
    assert listed(tmp_path)["old"]["state"] == "unknown"


def test_one_that_does_not_answer_is_not_waited_for(folder: Path) -> None:
    crawl = int((folder / "running/control/pid").read_text())
    os.kill(crawl, signal.SIGSTOP)
    try:
        begun = time.monotonic()
        row = next(row for row in list_crawls(folder).crawls if row.name == "running")
        assert time.monotonic() - begun < 20 * listing.TIMEOUT
        assert (row.state, row.pages) == ("running", None)
    finally:
        os.kill(crawl, signal.SIGCONT)


def test_a_token_of_another_crawl_is_not_used(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOSSAMER_TOKEN_FILE", str(folder / "killed/control/token"))
    assert isinstance(listed(folder)["running"]["pages"], int)


def test_a_name_steers_nothing(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder / "old", tmp_path / EVIL)
    (tmp_path / os.fsdecode(b"\xff")).mkdir()
    shutil.copy(folder / "old/crawl.toml", tmp_path / os.fsdecode(b"\xff"))
    text = said(tmp_path, 80)
    assert "evil\\x1b[31m\\nname" in text
    assert "\\xff" in text
    assert text.replace("\n", "").isprintable()
    assert set(listed(tmp_path)) == {EVIL, "\\xff"}


def test_a_folder_that_is_a_crawl_is_told_too(folder: Path) -> None:
    assert [row.name for row in list_crawls(folder / "done").crawls] == ["."]


def test_an_empty_folder_says_what_to_do(tmp_path: Path) -> None:
    text = said(tmp_path, 80)
    assert text.startswith("No crawl is in ")
    assert "gossamer crawl example.org --out NAME" in text


def test_more_than_can_be_told_are_counted(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(40):
        (tmp_path / f"c{number}").mkdir()
        file = shutil.copy(folder / "old/crawl.toml", tmp_path / f"c{number}")
        os.utime(file, (number, number))
    monkeypatch.setattr(listing, "MOST", 3)
    found = list_crawls(tmp_path)
    assert found.left_out == 37
    assert [row.name for row in found.crawls] == ["c37", "c38", "c39"], "the last ones are told"


def test_one_that_still_opens_its_state_runs(tmp_path: Path) -> None:
    """It takes the state before it writes down that it has begun; who only looks shares the state."""
    crawl(tmp_path / "one", ("--delay", "0s"), hosts=2, pages=20)
    with (tmp_path / "one/state/lock").open("rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_SH)
        row = list_crawls(tmp_path).crawls[0]
        assert (row.running, row.state) == (False, "finished")
        assert row.ended is not None
        fcntl.flock(lock, fcntl.LOCK_EX)
        row = list_crawls(tmp_path).crawls[0]
        assert (row.running, row.state) == (True, "running")
        assert (row.began, row.ended, row.error) == (None, None, ""), "those are of the run before"
