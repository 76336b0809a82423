"""The state on disk, from outside the process that has it open."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gossamer.path.seen import KINDS, Seen, StateFormatError

CHILD = """
import sys
from gossamer.path.seen import Seen
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


@pytest.mark.parametrize("kind", KINDS)
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
