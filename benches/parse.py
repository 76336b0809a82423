"""Parsing: pages per second, native against selectolax (lexbor) with `urljoin`.

The pages are generated: about 20 KB, 50 links, ordinary markup. Each figure is the best of several
short rounds, so that a busy machine disturbs it little; all run on one core.

Links are given in canonical form: resolved by the canonical stage with its default rules (WHATWG
parsing, one spelling, tracking parameters and session ids removed). `urljoin` only joins.
"""

import random
import time
from collections.abc import Callable
from urllib.parse import urljoin

from selectolax.lexbor import LexborHTMLParser

from gossamer._native import parse_page, parse_rounds

URL = "http://a.example/section/page.html"
LINKS = 50
PAGES = 20
ROUNDS = 100
CANONICAL = "native: parse, links in canonical form"
BAR = 8.0

_TEXT = (
    "crawler page the frontier of host polite archive network and text link with small river "
    "mountain language history index to in a"
)


def make_page(seed: int) -> bytes:
    """A page of about 20 KB with 50 links."""
    rng = random.Random(seed)
    items = []
    for number in range(LINKS):
        words = " ".join(rng.choices(_TEXT.split(), k=44))
        target = rng.randrange(100_000)
        items.append(
            f'<div class="item" id="i{number}"><p>{words} <a class="nav" '
            f'href="/dir{target % 13}/page-{target}.html?a=1&amp;b={number}">see page '
            f"<b>{target}</b></a>.</p></div>\n"
        )
    head = (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>Page &amp; test</title>'
        '<meta name="robots" content="index,follow">'
        "<script>if (a < 2) { document.write('<b>'); }</script>"
        "<style>p > a { color: red }</style></head><body>\n"
    )
    return (head + "".join(items) + "</body></html>\n").encode()


def _with_selectolax(body: bytes) -> int:
    tree = LexborHTMLParser(body)
    links = [urljoin(URL, node.attributes["href"]) for node in tree.css("a[href]")]
    return len(links)


def _through_the_binding(body: bytes) -> int:
    return len(parse_page(body, URL, "text/html").links)


def _best(work: Callable[[], int]) -> tuple[float, int]:
    best, links = float("inf"), 0
    for _ in range(ROUNDS):
        start = time.perf_counter()
        links = work()
        best = min(best, time.perf_counter() - start)
    return best / PAGES, links // PAGES


def run() -> list[dict[str, object]]:
    bodies = [make_page(seed) for seed in range(PAGES)]
    selectolax = "selectolax (lexbor) + urljoin"
    ways: dict[str, Callable[[], int]] = {
        "native: parse, SimHash": lambda: parse_rounds(bodies, URL, 1),
        # What selectolax and urljoin do, and no more: the SimHash is left out.
        CANONICAL: lambda: parse_rounds(bodies, URL, 1, resolve=True, simhash=False),
        "native: parse, SimHash, links in canonical form": lambda: parse_rounds(
            bodies, URL, 1, resolve=True
        ),
        "native: page by page through the binding, links as tuples": lambda: sum(
            map(_through_the_binding, bodies)
        ),
        selectolax: lambda: sum(map(_with_selectolax, bodies)),
    }
    timed = {name: _best(work) for name, work in ways.items()}
    reference, _ = timed[selectolax]
    return [
        {
            "bench": "parse",
            "what": name,
            "value": round(seconds * 1e6, 1),
            "unit": "µs/page",
            "beside": f"{selectolax}: {reference * 1e6:.1f} µs; {links} links a page",
            "ratio": round(reference / seconds, 1),
            "bar": BAR if name == CANONICAL else None,
        }
        for name, (seconds, links) in timed.items()
    ]


if __name__ == "__main__":
    print("page bytes", len(make_page(0)))
    for row in run():
        print(row)
