"""The machine's clock set forward and back by an hour: no visit too early, no wait of an hour.

The clock is that of the crawl's process only; politeness is judged by the simulated web's own log.
"""

import mmap
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.crawl.conftest import Starter
from tests.crawl.crawling import ended, shortest_gap, until

from gossamer.simweb import Options, SimWeb, serve

HOUR = 3600
SHIM = Path(__file__).with_name("clock_shim.c")


class SettableClock:
    """How far the clock of the processes with this environment is ahead, in seconds."""

    def __init__(self, library: Path, file: Path) -> None:
        file.write_bytes(bytes(mmap.PAGESIZE))
        self._file = file
        self.environ = {"LD_PRELOAD": str(library), "GOSSAMER_TEST_CLOCK": str(file)}

    def set(self, seconds: int) -> None:
        with self._file.open("r+b") as stream:
            stream.write(struct.pack("=q", seconds))


@pytest.fixture
def clock(tmp_path: Path) -> SettableClock:
    compiler = shutil.which("cc")
    if compiler is None or not sys.platform.startswith("linux"):
        pytest.skip("the settable clock needs Linux and a C compiler")
    library = tmp_path / "clock_shim.so"
    subprocess.run(
        [compiler, "-Wall", "-Werror", "-O1", "-shared", "-fPIC", "-o", library, SHIM], check=True
    )
    return SettableClock(library, tmp_path / "clock")


@pytest.fixture
def web(web_log: Path) -> Iterator[SimWeb]:
    """Few pages a host, so that a gap of seconds can be waited for."""
    with serve(Options(hosts=40, pages=80, host_skew=0.0, port=0), log=web_log) as server:
        yield server


def test_the_clock_of_the_test_works(clock: SettableClock) -> None:
    clock.set(HOUR)
    shown = subprocess.run(
        [sys.executable, "-c", "import time; print(time.time())"],
        env=clock.environ,
        capture_output=True,
        text=True,
        check=True,
    )
    ahead = datetime.fromtimestamp(float(shown.stdout), UTC) - datetime.now(UTC)
    assert abs(ahead - timedelta(hours=1)) < timedelta(minutes=1)


def test_set_between_runs(crawl: Starter, web: SimWeb, web_log: Path, clock: SettableClock) -> None:
    # The gap is longer than a start takes: a resume that trusted the clock would be too early.
    one = crawl(delay="1s", environ=clock.environ)
    assert one.kill(one.start(), 60)
    clock.set(HOUR)
    assert one.kill(one.start(resume=True), 30)
    clock.set(-HOUR)
    one.resume()
    one.check_complete()
    web.stop()
    gap, where = shortest_gap(web_log)
    assert gap >= 1.0 - 0.0001, where


def test_set_while_running(
    crawl: Starter, web: SimWeb, web_log: Path, clock: SettableClock
) -> None:
    one = crawl(delay="500ms", environ=clock.environ)
    process = one.start()
    with ended(process):
        for requests, ahead in [(30, HOUR), (55, -HOUR), (80, 0), (100, -HOUR)]:
            until(lambda wanted=requests: web.requests() >= wanted, f"{requests} requests", 60)  # type: ignore[misc]
            clock.set(ahead)
        assert process.wait(90) == 0, one.said()
    one.check_complete()
    web.stop()
    gap, where = shortest_gap(web_log)
    assert gap >= 0.5 - 0.0001, where
