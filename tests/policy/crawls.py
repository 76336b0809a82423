"""Crawls with the policies of the test package, and what they did as others see it."""

import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import tomli_w
from tests.crawl.crawling import MANY_COMMITS, Crawl
from tests.packages.installing import path_with
from warcio.archiveiterator import ArchiveIterator

from gossamer.simweb import Options, SimWeb

WEB = Options(hosts=12, pages=360, host_skew=0.0, duplicates=0.0, port=0)
USUAL = ["--scope", "any", "--allow-private", "--delay", "0s", *MANY_COMMITS]


def make(web: SimWeb, out: Path, package: Path, settings: dict[str, Any], *options: str) -> Crawl:
    """A crawl that is not started yet, with settings in a file as a user writes them."""
    config = out.with_name(f"{out.name}.toml")
    config.write_text(tomli_w.dumps(settings))
    more = ["--config", str(config), *options]
    return Crawl(web, out, *USUAL, *more, environ={"PYTHONPATH": path_with(package)})


def number(url: str) -> int:
    """What the test package goes by, written once more."""
    parts = urlsplit(url)
    digits = re.findall(r"\d+", f"{parts.path}?{parts.query}")
    return int(digits[-1]) if digits else 0


def requests(log: Path) -> dict[str, list[tuple[float, str]]]:
    """Times and paths of the requests to each host, by the server's own log; robots files apart."""
    found: dict[str, list[tuple[float, str]]] = defaultdict(list)
    for line in log.read_text().splitlines():
        time, _connection, host, path, _status = line.split(" ")
        if path != "/robots.txt":
            found[host].append((int(time) / 1e6, path))
    return {host: sorted(rows) for host, rows in found.items()}


def fields(out: Path) -> dict[str, dict[str, Any]]:
    """The fields that policies gave each page, from its metadata record, read by others' code."""
    found = {}
    for file in sorted(out.glob("warc/*.warc.gz")):
        with file.open("rb") as stream:
            for record in ArchiveIterator(stream):
                kind = record.rec_headers.get_header("Content-Type")
                if record.rec_type == "metadata" and kind == "application/json":
                    url = record.rec_headers.get_header("WARC-Target-URI")
                    found[url] = json.loads(record.content_stream().read())
    return found


def why(out: Path, url: str, package: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "gossamer.cli.main", "why", url, "--out", str(out)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": path_with(package)},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
