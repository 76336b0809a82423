"""A full disk: the crawl pauses, says so, loses nothing, and goes on when there is room."""

import contextlib
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.crawl.conftest import Starter
from tests.crawl.crawling import Crawl, ended, until
from tests.crawl.mounts import make_larger, small_disk

FULL = "waiting for room on the disk"


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    with small_disk(tmp_path / "disk", "6m"):
        yield tmp_path / "disk"


def is_full(one: Crawl) -> bool:
    return FULL in one.said()


def fill(disk: Path) -> None:
    with contextlib.suppress(OSError), (disk / "filler").open("wb", buffering=0) as file:
        while file.write(bytes(4096)):
            pass


def test_goes_on_when_there_is_room(crawl: Starter, disk: Path) -> None:
    one = crawl(out=disk / "out")
    one.messages, one.answer = disk.with_name("stderr"), disk.with_name("stdout")
    process = one.start()
    with ended(process):
        until(lambda: is_full(one) or process.poll() is not None, "the pause to be told", 60)
        assert process.poll() is None, one.said()
        # Visits under way end, at most one a host; no further one begins.
        asked = one.web.requests()
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(1.0)
        assert one.web.requests() <= asked + one.web.options.hosts
        make_larger(disk, "128m")
        assert process.wait(90) == 0, one.said()
    one.check_complete()


def test_interrupted_while_full(crawl: Starter, disk: Path) -> None:
    one = crawl(out=disk / "out")
    one.messages, one.answer = disk.with_name("stderr"), disk.with_name("stdout")
    process = one.start()
    with ended(process):
        until(lambda: is_full(one) or process.poll() is not None, "the pause to be told", 60)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130, one.said()
    assert "no room left on the disk" in one.said()
    assert f"--resume --out {one.out}" in one.said()
    assert "everything is saved" not in one.said()
    assert "Traceback" not in one.said()
    assert one.summary()["activity"] == "disk_full"
    make_larger(disk, "128m")
    one.resume()
    one.check_complete()


def test_killed_while_full(crawl: Starter, disk: Path) -> None:
    one = crawl(out=disk / "out")
    one.messages, one.answer = disk.with_name("stderr"), disk.with_name("stdout")
    process = one.start()
    with ended(process):
        until(lambda: is_full(one) or process.poll() is not None, "the pause to be told", 60)
    fill(disk)
    # A start without room fails with a clear message instead of waiting unseen.
    assert one.run(resume=True) == 1
    assert "bytes free" in one.said()
    assert "Traceback" not in one.said()
    make_larger(disk, "128m")
    one.resume()
    one.check_complete()
