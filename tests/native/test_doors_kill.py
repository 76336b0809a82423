"""kill -9 in the middle of every door's protocol: nothing is lost, nothing is stored twice."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

from tests.crawl.crawling import ended, expected, until
from tests.packages.installing import path_with
from warcio.archiveiterator import ArchiveIterator

from gossamer.simweb import Options, serve

ROOT = Path(__file__).parents[2]
WEB = Options(hosts=20, pages=1000, host_skew=0.0, duplicates=0.05, port=0)
KILLS = 8


def start(out: Path, url: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.native.doors_process", str(out), url]
    environ = os.environ | {"PYTHONPATH": path_with(ROOT)}
    with out.with_name("said").open("wb") as said:
        return subprocess.Popen(command, cwd=ROOT, env=environ, stdout=said)


def stored(out: Path) -> tuple[Counter[str], Counter[str]]:
    """Pages and fields in the WARC files."""
    pages, fields = Counter[str](), Counter[str]()
    for file in sorted((out / "warc").iterdir()):
        with file.open("rb") as stream:
            for record in ArchiveIterator(stream):
                url = record.rec_headers.get_header("WARC-Target-URI")
                if record.rec_type == "metadata":
                    fields[url] += 1
                elif record.rec_type in ("response", "revisit") and not url.endswith("robots.txt"):
                    pages[url] += 1
    return pages, fields


def test_killed_with_a_policy_at_every_door(tmp_path: Path) -> None:
    chance, out = random.Random(11), tmp_path / "out"
    out.mkdir()
    with serve(WEB) as web:
        killed = 0
        for _ in range(KILLS):
            process, begun = start(out, web.url), web.requests()
            with ended(process):
                more = chance.randint(1, 60)
                until(
                    lambda: web.requests() >= begun + more or process.poll() is not None,  # noqa: B023
                    "some requests",
                )
                process.send_signal(signal.SIGKILL)
                killed += process.wait(30) == -signal.SIGKILL
        assert killed == KILLS
        process = start(out, web.url)
        with ended(process):
            assert process.wait(300) == 0
        doors = json.loads(out.with_name("said").read_bytes())
        wanted = expected(web)
    for door in ("pages", "order", "refresh"):
        assert doors[door]["failures"] == 0
    # Not all was done before the last of them was killed.
    assert doors["pages"]["rows"] > 0
    pages, fields = stored(out)
    missing = wanted - set(pages)
    assert not missing
    assert [url for url, count in pages.items() if count > 1 and url in wanted] == []
    assert {url for url in wanted if fields[url] != 1} == set()
