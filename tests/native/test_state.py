"""The state on disk, from outside the process that has it open."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gossamer._native import Seen, StateFormatError, StateFullError, seen_kinds

CHILD = """
import sys
from gossamer._native import Seen
seen = Seen(sys.argv[1], sys.argv[2], recent_keys=200, bloom_bytes=1 << 20)
start = int(sys.argv[3])
for batch in range(start, start + 100_000):
    seen.admit([f"http://h{i % 7}.example/{batch}/{i}" for i in range(30)])
    seen.commit(durable=batch % 4 == 0)
    print(batch, flush=True)
"""


def run_and_kill(kind: str, directory: Path, start: int, seconds: float) -> int:
    """Runs batches in another process, kills it, and gives the last batch it reported."""
    command = [sys.executable, "-c", CHILD, kind, str(directory), str(start)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        last = int(child.stdout.readline())
        time.sleep(seconds)
        os.kill(child.pid, signal.SIGKILL)
        for line in child.stdout:
            if line.endswith("\n"):
                last = int(line)
    return last


@pytest.mark.parametrize("kind", seen_kinds())
def test_killed_batches_are_whole(kind: str, tmp_path: Path) -> None:
    start = 0
    for pause in (0.0, 0.05, 0.13):
        last = run_and_kill(kind, tmp_path, start, pause)
        seen = Seen(kind, tmp_path, recent_keys=200, bloom_bytes=1 << 20)
        for batch in range(last + 3):
            urls = [f"http://h{i % 7}.example/{batch}/{i}" for i in range(30)]
            fresh = seen.admit(urls)
            if batch <= last:
                assert not any(fresh), f"batch {batch} was reported and is not whole"
            else:
                assert len(set(fresh)) == 1, f"batch {batch} is there in part"
            if all(fresh):
                # The first batch that is not there: the next process goes on with it.
                start = batch
                break
        seen.close()
        assert start in {last + 1, last + 2}


def test_a_newer_format_is_refused_and_left_alone(tmp_path: Path) -> None:
    seen = Seen("exact", tmp_path)
    seen.admit(["http://a.example/"])
    seen.commit(durable=True)
    seen.close()
    mark = tmp_path / "store" / "FORMAT"
    good = mark.read_text()
    mark.write_text("gossamer-state 999\n")
    with pytest.raises(StateFormatError, match="newer version"):
        Seen("exact", tmp_path)
    assert mark.read_text() == "gossamer-state 999\n"
    mark.write_text(good)
    assert Seen("exact", tmp_path).admit(["http://a.example/"]) == [False]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 100 MiB that can grow."""
    place = tmp_path / "small"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=100m", "tmpfs", str(place)]
    if subprocess.run(command, check=False, capture_output=True).returncode != 0:
        pytest.skip("mounting a small file system is not permitted here")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def urls_of(batch: int) -> list[str]:
    return [f"http://h{i % 9}.example/{batch}/{i}/{'x' * 50}" for i in range(1000)]


@pytest.mark.parametrize("kind", ["exact", "table"])
def test_a_full_disk_is_told_and_the_state_goes_on(kind: str, small_disk: Path) -> None:
    seen = Seen(kind, small_disk / "state", recent_keys=20_000, store_buffer_bytes=4 << 20)
    filler = small_disk / "filler"
    filler.write_bytes(bytes(88 << 20))
    done: list[int] = []

    def fill() -> None:
        for batch in range(1000):
            assert all(seen.admit(urls_of(batch)))
            done.append(batch)
            seen.commit()

    with pytest.raises(StateFullError, match="no room left"):
        fill()
    # Tried again without room: the same answer. With room: it goes on, and nothing is lost.
    with pytest.raises(StateFullError):
        seen.commit()
    filler.unlink()
    seen.commit(durable=True)
    seen.close()
    again = Seen(kind, small_disk / "state", recent_keys=20_000)
    for batch in done:
        assert not any(again.admit(urls_of(batch)))
    again.close()
