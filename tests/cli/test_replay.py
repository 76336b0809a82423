"""An exported index in the hands of a replay tool: pywb finds every page of a crawl by its URL.

It is not among our dependencies: it is installed once, in a venv of its own below .cache. Where it cannot be had, that
test is skipped, and the keys that it asks for are still compared with those of the file `cdxj_keys.txt`, which it has made.
"""

import contextlib
import http.client
import socket
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.audit.crawls import gossamer
from tests.crawl.crawling import ended, until
from tests.crawl.pages import crawled, serving
from tests.realweb.app import CACHE
from tests.realweb.install import UnavailableError, venv

from gossamer._native import surt

KEYS = Path(__file__).parents[1] / "native" / "cdxj_keys.txt"

PATHS = [
    "/", "/A/Page.HTML", "/a%20b", "/%7Euser/", "/wiki/Special:Search", "/wiki/Talk%3AMain", "/tags/c%2B%2B", "/%2541",
    "/f%C3%BCr/", "/100%25", "/a,b;c=1", "/x?b=2&a=1", "/x?b=2&a=1&a", "/y?a-b=1&a=2&a.b=3&A0=4", "/shop?f[0]=red",
    "/shop?f%5B1%5D=blue", "/q?u=http://e.org/%3Fz=1", "/q?u=http%3A%2F%2Fe.org%2Fy", "/q?w=a%26b", "/q?v=a+b%20c",
    "/e?k=", "/e?l", "/f%25C3",
]  # fmt: skip


def test_keys_are_those_that_pywb_asks_for() -> None:
    rows = [line.split("\t") for line in KEYS.read_text().splitlines() if not line.startswith("#")]
    assert len(rows) > 400
    assert {url: surt(url) for url, key in rows if surt(url) != key} == {}


@contextlib.contextmanager
def replayed(out: Path, place: Path) -> Iterator[int]:
    """pywb with the crawl in `out`; gives its port."""
    try:
        # Its brotlipy and the brotli of the others cannot live in one venv.
        python = venv(
            ("pywb",), CACHE / "pywb", Path(__file__).with_name("replay-requirements.txt")
        )
    except UnavailableError as reason:
        pytest.skip(f"pywb cannot be had: {reason}")
    program = str(python.with_name("wayback"))
    index = place / "index.cdxj"
    assert gossamer("export", out, "--format", "cdxj", "--output", index).returncode == 0
    paths = f"    index_paths: {index}\n    archive_paths: {out}/warc/\n"
    (place / "config.yaml").write_text(f"collections:\n  crawl:\n{paths}")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [program, "--bind", "127.0.0.1", "--port", str(port), "--directory", str(place)]
    with (place / "pywb.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=place)
    with ended(process):
        until(lambda: process.poll() is not None or is_open(port), "pywb answers", 60)
        assert process.poll() is None, (place / "pywb.log").read_text()
        yield port


def is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_every_page_comes_back(tmp_path: Path) -> None:
    pages = {path: f"this is {path}" for path in PATHS}
    pages["/"] = "".join(f'<a href="{path}">x</a>' for path in PATHS)
    out = tmp_path / "out"
    with serving(pages) as served:
        crawled(f"http://127.0.0.1:{served.port}/", out, "--set", "fetch.soft_404_probe=false")
    assert sorted(served.asked) == sorted(["/robots.txt", *PATHS])
    now = datetime.now(UTC).strftime("%Y%m%d%H%M%S")
    found = {}
    with replayed(out, tmp_path) as port:
        for path in PATHS:
            asked = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
            asked.request("GET", f"/crawl/{now}id_/http://127.0.0.1:{served.port}{path}")
            found[path] = asked.getresponse().read().decode()
            asked.close()
    assert found == pages
