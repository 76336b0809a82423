"""Views: who asks again waits too, and what is pushed out is ended without keeping others waiting."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pytest

from gossamer.control.service import UnreachableError
from gossamer.crawls import views
from gossamer.crawls.processes import MOST_SAID, Process, Processes, Started
from gossamer.crawls.views import Views
from gossamer.settings.model import ControlSettings


class Sleepers(Processes):
    """Processes that tell no address, and end with their standard input."""

    def __init__(self) -> None:
        super().__init__()
        self.started: list[Process] = []

    def launch(
        self,
        words: list[str],
        log: Path,
        *,
        stdin: int | IO[bytes] = subprocess.DEVNULL,
        handed: tuple[int, ...] = (),
    ) -> Started:
        waiting = [sys.executable, "-c", "import sys; sys.stdin.read()"]
        self.started.append(subprocess.Popen(waiting, stdin=stdin))
        return Started(self.started[-1], log, 0)


@pytest.fixture
def sleepers() -> Iterator[Sleepers]:
    sleepers = Sleepers()
    yield sleepers
    for process in sleepers.started:
        process.kill()
        # Also closes its standard input.
        process.communicate()


def serves(crawl: Path, number: int) -> None:
    (crawl / "control").mkdir(exist_ok=True)
    (crawl / "control/url").write_text("http://127.0.0.1:1\n")
    (crawl / "control/pid").write_text(f"{number}\n")


def test_who_asks_again_waits_for_the_address_of_this_view(
    tmp_path: Path, sleepers: Sleepers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(views, "PATIENCE", 0.1)
    opener = Views(sleepers, ControlSettings(), threading.Event())
    # Left by one that was killed.
    serves(tmp_path, 1)
    for _ in range(2):
        with pytest.raises(UnreachableError, match="being opened"):
            opener.open(tmp_path, tmp_path / "log")
    assert len(sleepers.started) == 1
    serves(tmp_path, sleepers.started[0].pid)
    opener.open(tmp_path, tmp_path / "log")
    assert opener.has(tmp_path.name)
    opener.close(tmp_path.name)
    assert not opener.has(tmp_path.name)
    assert sleepers.started[0].returncode == 0


def test_one_that_is_pushed_out_is_ended_while_others_can_be_opened(
    tmp_path: Path, sleepers: Sleepers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(views, "MOST", 1)
    monkeypatch.setattr(views, "PATIENCE", 0.0)
    opener = Views(sleepers, ControlSettings(), threading.Event())
    free: list[bool] = []

    def ended(process: Process, seconds: float) -> None:
        free.append(not opener._lock.locked())
        process.kill()

    monkeypatch.setattr(views, "end", ended)
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        with pytest.raises(UnreachableError):
            opener.open(tmp_path / name, tmp_path / "log")
    assert free == [True]
    assert (opener.has("one"), opener.has("two")) == (False, True)
    opener.close_all()


def launched(log: Path) -> Started:
    started = Processes().launch(["nonsense"], log)
    assert started.process.wait(60) == 2
    return started


def test_what_was_said_before_is_kept_and_not_told_again(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("gossamer: long ago\n")
    said = launched(log).last_words()
    assert "nonsense" in said
    assert "long ago" not in said
    assert log.read_text().startswith("gossamer: long ago\n")
    log.write_bytes(b"x" * MOST_SAID)
    launched(log)
    assert log.stat().st_size > MOST_SAID
    cut: Any = launched(log)
    assert cut.since == 0
    assert log.stat().st_size < MOST_SAID
    assert "nonsense" in cut.last_words()
