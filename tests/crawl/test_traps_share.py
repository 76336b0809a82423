"""The simulated web with all its traps, link farms and soft 404s, by default settings: every real page, and little else."""

import json
from pathlib import Path
from urllib.parse import urlsplit

from tests.crawl.crawling import Crawl

from gossamer.simweb import Options, serve, truth

SHARE = 0.9
"""Of the visits to pages."""


def test_nine_of_ten_visits_are_to_real_pages_and_none_of_these_is_missing(tmp_path: Path) -> None:
    options = Options(port=0, hosts=200, pages=20_000, traps=0.6)
    with serve(options, log=tmp_path / "requests.log") as web:
        usual = ["--scope", "any", "--allow-private", "--delay", "0s"]
        crawl = Crawl(web, tmp_path / "out", *usual, environ={})
        assert crawl.run(seconds=300) == 0, crawl.said()
        rows = list(truth(web.options).rows())
    wanted = {row.url for row in rows if row.allowed and row.depth is not None}
    lines = [
        json.loads(line)
        for file in sorted((tmp_path / "out" / "log").iterdir())
        for line in file.read_text().splitlines()
    ]
    visited = [line["url"] for line in lines if line["status"] is not None]
    visited = [
        url for url in visited if urlsplit(url).path != "/robots.txt" and "sitemap" not in url
    ]
    assert wanted - set(visited) == set()
    real = {row.url for row in rows}
    assert len(real & set(visited)) / len(visited) >= SHARE
