"""A power cut: what was reported as stored is on the device.

The crawl runs on a file system in an image. When its process is killed the image is copied as it is,
without a sync: what the system had not written yet is lost, as if the machine had stopped.
"""

import contextlib
import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from tests.crawl.conftest import Starter
from tests.crawl.crawling import Crawl, ended, expected
from tests.crawl.mounts import make_image, mounted
from tests.crawl.test_kill import static_score
from warcio.archiveiterator import ArchiveIterator
from warcio.exceptions import ArchiveLoadFailed

from gossamer._native import why
from gossamer.node.native_settings import to_native
from gossamer.settings import load
from gossamer.simweb import SimWeb

REPORTING = """
import asyncio, sys
from pathlib import Path
from gossamer.node.directory import prepare
from gossamer.node.standalone import Interrupt, Standalone
from gossamer.settings import load

out, seeds = Path(sys.argv[1]), sys.argv[2:]
settings = load(None if seeds else out / "crawl.toml", {
    "scope.kind": "any", "politeness.delay": "50ms", "fetch.allow_private": True,
    "store.batch_pages": 16, "store.batch_wait": "5ms", "frontier.order": "static",
    "rule": [{"name": "odd-later", "match": {"regex": ["[13579]$"]}, "score": 0.125}],
})
left = prepare(out, settings, seeds, resume=not seeds)

async def main():
    async with Standalone(out, settings) as standalone:
        await standalone.add_seeds(left)
        await standalone.run(lambda progress: print(progress.pages, flush=True), Interrupt())

asyncio.run(main())
"""


def crawl_until_cut(out: Path, image: Path, copy: Path, pages: int, *seeds: str) -> int:
    """Crawls until so many pages are reported, cuts the power, and gives how many were."""
    process = subprocess.Popen(
        [sys.executable, "-c", REPORTING, str(out), *seeds], stdout=subprocess.PIPE
    )
    with ended(process):
        assert process.stdout is not None
        reported = 0
        while reported < pages:
            line = process.stdout.readline()
            assert line, "the crawl ended before the power cut"
            reported = int(line)
        process.send_signal(signal.SIGKILL)
        process.wait(30)
        shutil.copyfile(image, copy)
        rest = process.stdout.read().splitlines()
        process.stdout.close()
    return max([reported, *map(int, rest)])


def readable(one: Crawl) -> set[str]:
    """The pages in the WARC files as the power cut left them; a torn end is what it is."""
    found = set()
    for file in one.warcs("*"):
        with file.open("rb") as stream, contextlib.suppress(ArchiveLoadFailed, EOFError):
            for record in ArchiveIterator(stream):
                if record.rec_type in {"response", "revisit"}:
                    found.add(record.rec_headers.get_header("WARC-Target-URI"))
    return {url for url in found if not url.endswith("/robots.txt")}


def check_scores(one: Crawl) -> None:
    """What is queued has the score of the order, or of the rule that the settings have."""
    settings = to_native(load(one.out / "crawl.toml", {}))
    seen = set()
    for url in sorted(expected(one.web)):
        account = json.loads(why(one.out, settings, url))
        place, ruled = account["queued"], url[-1] in "13579"
        if place is None or place["depth"] == 0:
            continue
        assert place["score"] == (0.125 if ruled else static_score(url, place["depth"])), url
        assert [rule["rule"] for rule in account["rules"]] == ["odd-later"] * ruled
        seen.add(ruled)
        if len(seen) == 2:
            return
    raise AssertionError(f"not both kinds are queued: {seen}")


def test_power_cut(crawl: Starter, web: SimWeb, tmp_path: Path) -> None:
    images = [tmp_path / f"image{number}" for number in range(3)]
    make_image(images[0], 128)
    disk = tmp_path / "disk"
    one = crawl(out=disk / "out")
    one.messages, one.answer = tmp_path / "stderr", tmp_path / "stdout"
    wanted = expected(web)
    with mounted(images[0], disk):
        first = crawl_until_cut(one.out, images[0], images[1], 300, web.url)
    with mounted(images[1], disk):
        assert len(readable(one)) >= first
        check_scores(one)
        second = crawl_until_cut(one.out, images[1], images[2], 800)
    with mounted(images[2], disk):
        assert len(readable(one)) >= second
        check_scores(one)
        asked = web.requests()
        one.resume()
        one.check_complete()
        # Stored means known as stored: none of these was asked for again.
        assert web.requests() - asked <= len(wanted) - second + 2 * web.options.hosts
