"""A look at a crawl leaves nothing in the temporary directory, however it ends."""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.audit.crawls import Crawl
from tests.control.serving import GOSSAMER, until

VIEW = "gossamer-view-*"
LOOKS = {
    "report": ["report"],
    "status": ["status", "--out"],
    "why": ["why", "http://a.test/", "--out"],
    "patterns": ["patterns"],
}
SIGNALS = [signal.SIGTERM, signal.SIGHUP]


class Place:
    """A temporary directory of our own, and who uses it."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.started: list[subprocess.Popen[str]] = []

    def start(self, *words: str | Path, before: tuple[str, ...] = ()) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [*before, *GOSSAMER, *map(str, words)], env={**os.environ, "TMPDIR": str(self.directory)},
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.started.append(process)
        return process

    def open(self, out: Path, *before: str) -> subprocess.Popen[str]:
        """`gossamer open`, when it serves."""
        process = self.start("open", out, "--port", "0", before=before)
        assert process.stderr is not None
        assert any(line.startswith("read-only:") for line in process.stderr)
        return process

    def left(self) -> list[str]:
        return sorted(file.name for file in self.directory.iterdir())


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    directory = tmp_path / "tmp"
    directory.mkdir()
    one = Place(directory)
    yield one
    for process in one.started:
        process.kill()
        # Waits and closes; some have been read to their end before, which can be done once.
        with process:
            pass


def stopped_with_view(place: Place, *words: str | Path) -> subprocess.Popen[str]:
    """A command that is stopped (SIGSTOP) while it has a view."""
    for _ in range(50):
        process = place.start(*words)
        until(lambda: any(place.directory.glob(VIEW)) or process.poll() is not None, "a view")  # noqa: B023
        process.send_signal(signal.SIGSTOP)
        if any(place.directory.glob(VIEW)) and process.poll() is None:
            return process
        process.kill()
        process.communicate()
    raise AssertionError("it was over too soon, always")


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("look", LOOKS)
def test_a_look_that_is_ended(place: Place, exported: Crawl, look: str, number: int) -> None:
    process = stopped_with_view(place, *LOOKS[look], exported.out)
    process.send_signal(number)
    process.send_signal(signal.SIGCONT)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 128 + number, said
    assert said == ""
    assert place.left() == []


@pytest.mark.parametrize("number", [*SIGNALS, signal.SIGINT])
def test_an_open_one_that_is_ended(place: Place, copied: Crawl, number: int) -> None:
    process = place.open(copied.out)
    assert any(place.directory.glob(VIEW))
    # A terminal that is closed tells its processes, and so does its shell.
    process.send_signal(number)
    process.send_signal(number)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 0, said
    assert place.left() == []
    assert not (copied.out / "control" / "url").exists()


def test_one_that_is_to_outlive_its_terminal(place: Place, copied: Crawl) -> None:
    process = place.open(copied.out, "nohup")
    process.send_signal(signal.SIGHUP)
    assert place.start("status", "--out", copied.out).wait(30) == 0
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 0


def test_the_next_look_removes_what_a_killed_one_left(
    place: Place, copied: Crawl, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    shutil.copytree(copied.out, other)
    killed, living = place.open(copied.out), place.open(other)
    killed.kill()
    killed.wait()
    assert len(list(place.directory.glob(VIEW))) == 2
    # Of the same name, and not ours to remove: a link, a file.
    kept = tmp_path / "kept"
    kept.mkdir()
    (place.directory / "gossamer-view-link").symlink_to(kept)
    (place.directory / "gossamer-view-file").touch()
    assert place.start("status", "--out", copied.out).wait(30) == 0
    (view,) = [file for file in place.directory.glob(VIEW) if file.is_dir() and not file.is_symlink()]  # fmt: skip
    assert kept.exists()
    living.send_signal(signal.SIGHUP)
    assert living.wait(30) == 0
    assert not view.exists()
    assert place.left() == ["gossamer-view-file", "gossamer-view-link"]


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a directory away")
def test_that_of_another_user_stays(place: Place, exported: Crawl) -> None:
    view = place.directory / "gossamer-view-other"
    view.mkdir()
    os.chown(view, 12345, 12345)
    assert place.start("status", "--out", exported.out).wait(30) == 0
    assert place.left() == ["gossamer-view-other"]
