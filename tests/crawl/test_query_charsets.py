"""Links with a query in pages of other charsets than UTF-8: asked for as a browser asks for them."""

from pathlib import Path
from urllib.parse import quote_from_bytes

import pytest
from tests.audit.crawls import gossamer
from tests.crawl.pages import Answer, crawled, serving

WORDS = {
    "gbk": "北京",
    "shift_jis": "東京",
    "koi8-r": "Москва",
    "euc-kr": "서울",
    "windows-1252": "Köln",
}


def quoted(text: str, charset: str = "utf-8") -> str:
    return quote_from_bytes(text.encode(charset))


@pytest.mark.parametrize("declared", ["header", "meta"])
def test_queries_are_asked_for_in_the_charset_of_the_page(declared: str, tmp_path: Path) -> None:
    pages: dict[str, str | Answer] = {"/": "".join(f'<a href="/{name}/">x</a>' for name in WORDS)}
    targets = []
    for charset, word in WORDS.items():
        # The path is UTF-8 whatever the page is in; what the charset lacks is a reference.
        links = f'<a href="/{word}?q={word}&amp;x=1">x</a><a href="?only={word}&#9731;">x</a>'
        meta = f"<meta charset={charset}>" if declared == "meta" else ""
        kind = f"text/html; charset={charset}" if declared == "header" else "text/html"
        pages[f"/{charset}/"] = Answer((meta + links).encode(charset), {"Content-Type": kind})
        targets += [
            f"/{quoted(word)}?q={quoted(word, charset)}&x=1",
            f"/{charset}/?only={quoted(word, charset)}%26%239731%3B",
        ]
    pages |= {target: f"page {target}" for target in targets}
    out = tmp_path / "out"
    with serving(pages) as served:
        crawled(f"http://127.0.0.1:{served.port}/", out)
    assert sorted(served.asked) == sorted(["/robots.txt", *pages])
    exported = gossamer("export", out, "--format", "links").stdout
    for target in targets:
        assert f"http://127.0.0.1:{served.port}{target}" in exported
