"""kill -9 at any moment, and --resume: every page exactly once, no host visited too early."""

import contextlib
import gzip
import json
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest
from tests.crawl.conftest import Starter
from tests.crawl.crawling import Crawl, ended, expected, shortest_gap, until

from gossamer._native import why
from gossamer.node.native_settings import to_native
from gossamer.settings.load import load
from gossamer.simweb import SimWeb

KILLS = 20
GAP = 0.06
SLOW = "50ms"
"""So that no machine is through before it is killed."""


def kill_after(one: Crawl, process: subprocess.Popen[bytes], seconds: float) -> bool:
    """For the start, where there is nothing yet to wait for: imports, opening, cutting files.

    Where the start is quick, some visits later.
    """
    end, begun = time.monotonic() + seconds, one.web.requests()
    with ended(process):
        until(
            lambda: time.monotonic() >= end or one.web.requests() >= begun + 40,
            "a moment to pass",
        )
        process.send_signal(signal.SIGKILL)
        return process.wait(30) == -signal.SIGKILL


def test_killed_twenty_times(crawl: Starter, web: SimWeb, web_log: Path) -> None:
    chance = random.Random(20)
    one = crawl("--set", "store.warc_size=2MiB", delay=f"{GAP}s")
    killed = 0
    for kill in range(KILLS):
        process = one.start(resume=(one.out / "crawl.toml").exists())
        if kill % 5 == 4:
            killed += kill_after(one, process, chance.uniform(0.2, 0.9))
        else:
            killed += one.kill(process, chance.randint(1, 90))
    assert killed == KILLS
    one.resume()
    one.check_complete()
    assert len(one.warcs()) > 3
    web.stop()
    gap, where = shortest_gap(web_log)
    assert gap >= GAP - 0.0001, where


def static_score(url: str, depth: int) -> float:
    """The score by `frontier.order = static` of what is no seed."""
    return 1 - min(depth, 31) / 64 - (0.5 if "?" in url else 0.0)


def test_scores_survive(crawl: Starter) -> None:
    one = crawl("--set", "frontier.order=static", delay=SLOW)
    assert one.kill(one.start(), 400)
    settings = to_native(load(one.out / "crawl.toml", {}))
    done = {line["url"] for line in one.logged()}
    checked = set()
    for url in sorted(expected(one.web) - done):
        place = json.loads(why(one.out, settings, url))["queued"]
        if place is not None and place["depth"] > 0:
            assert place["score"] == static_score(url, place["depth"]), url
            checked.add("?" in url)
        if len(checked) == 2:
            break
    assert checked == {True, False}
    one.resume()
    one.check_complete()


def test_killed_before_there_is_a_state(crawl: Starter, web: SimWeb, tmp_path: Path) -> None:
    # What does not hold the process up cannot be waited for: tried until it was early enough.
    for number in range(20):
        one = crawl(out=tmp_path / f"out{number}")
        begun = web.requests()
        process = one.start()
        with ended(process):
            until((one.out / "crawl.toml").exists, "the settings to be saved", 60)
            process.kill()
            process.wait(30)
        if web.requests() == begun:
            break
    else:
        pytest.fail("never killed before the first request")
    one.resume()
    one.check_complete()


def torn_records(file: Path) -> bytes:
    """A whole record and half of another, as if a batch was being written."""
    content = file.read_bytes()
    starts = [0]
    while len(starts) < 4:
        starts.append(content.index(b"\x1f\x8b\x08", starts[-1] + 10))
    middle = (starts[2] + starts[3]) // 2
    with contextlib.suppress(EOFError):
        gzip.decompress(content[starts[1] : middle])
        pytest.fail("the last record is whole")
    return content[starts[1] : middle]


def add_tails(one: Crawl, chance: random.Random, kind: str) -> None:
    """What a crash can leave past the committed end of the files."""
    (file,) = one.warcs("*.open")
    (log,) = sorted((one.out / "log").glob("*.jsonl"))[-1:]
    with file.open("ab") as warc, log.open("ab") as lines:
        if kind == "torn":
            warc.write(torn_records(file))
            lines.write(log.read_bytes()[: chance.randint(300, 900)])
        elif kind == "garbage":
            warc.write(chance.randbytes(chance.randint(1, 100_000)))
            lines.write(chance.randbytes(5000))
        else:
            warc.write(bytes(1 << 20))
            lines.write(bytes(4096))


@pytest.mark.parametrize("kind", ["torn", "garbage", "zeros"])
def test_tail_past_the_committed_end_is_cut(crawl: Starter, kind: str) -> None:
    chance = random.Random(kind)
    one = crawl(delay=SLOW)
    assert one.kill(one.start(), chance.randint(200, 900))
    add_tails(one, chance, kind)
    one.resume()
    one.check_complete()


@pytest.mark.parametrize("what", ["warc", "log"])
def test_file_shorter_than_committed_is_refused(crawl: Starter, what: str) -> None:
    one = crawl(delay=SLOW)
    assert one.kill(one.start(), 700)
    other = "log" if what == "warc" else "warc"
    (file,) = (one.out / what).iterdir()
    (untouched,) = (one.out / other).iterdir()
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    with untouched.open("ab") as stream:
        stream.write(b"a tail that a resume would cut")
    before = {path: path.read_bytes() for path in (file, untouched)}
    settings = (one.out / "crawl.toml").read_bytes()
    assert one.run("--set", "limits.pages=3", resume=True) == 1
    assert str(file) in one.said()
    assert "committed" in one.said()
    assert "Traceback" not in one.said()
    assert {path: path.read_bytes() for path in before} == before
    assert (one.out / "crawl.toml").read_bytes() == settings
    # With the lost bytes back, nothing was lost by the refusal.
    file.write_bytes(whole)
    one.resume()
    one.check_complete()
