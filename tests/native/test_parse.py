"""Parse through the binding: the promises a plug-in relies on, and an independent judge."""

import random
from html.parser import HTMLParser
from typing import NamedTuple

import pytest
from selectolax.lexbor import LexborHTMLParser

from gossamer._native import ParsedPage, parse_page, simhash_distance

URL = "http://a.example/page"


class Link(NamedTuple):
    """One link of a page; its address is as written, not resolved."""

    kind: str
    target: str
    rel: frozenset[str]
    anchor: str
    hreflang: str


def links(parsed: ParsedPage) -> list[Link]:
    """The links of a page, in the order of the document; those of the header come first."""
    return [
        Link(kind, target, frozenset(rel.split()), anchor, hreflang)
        for kind, target, rel, anchor, hreflang in parsed.links
    ]


def test_a_page_says_what_it_is() -> None:
    page = parse_page(
        b"<html lang=de><title> A &amp;\n B </title><meta name=robots content=noindex>"
        b"<base href=/b/><link rel=canonical href=/c>"
        b"<a href=' x ' rel='nofollow me'>one <b>two</b></a>",
        URL,
        "text/html; charset=windows-1252",
        [("X-Robots-Tag", "gossamer: noarchive"), ("link", "</h>; rel=alternate; hreflang=fr")],
    )
    assert (page.kind, page.charset, page.title, page.lang) == (
        "html",
        "windows-1252",
        "A & B",
        "de",
    )
    assert (page.noindex, page.nofollow, page.noarchive) == (True, False, True)
    assert (page.base, page.canonical, page.refresh, page.links_cut) == ("/b/", "/c", None, 0)
    assert links(page) == [
        ("header", "/h", frozenset({"alternate"}), "", "fr"),
        ("base", "/b/", frozenset(), "", ""),
        ("link", "/c", frozenset({"canonical"}), "", ""),
        ("a", "x", frozenset({"nofollow"}), "one two", ""),
    ]


def test_settings_are_limits() -> None:
    body = b"<a href=x>long anchor text</a>" * 10 + b"<form action=/f><img src=i>"
    page = parse_page(body, URL, links_bytes=200, anchor_bytes=6)
    kept = len(links(page))
    assert 0 < kept < 10
    # The picture too is one that was not kept.
    assert kept + page.links_cut == 11
    assert [link.anchor for link in links(page)] == ["long a"] * kept
    page = parse_page(body, URL, forms=True, resources=False, simhash=False)
    assert [link.kind for link in links(page)] == ["a"] * 10 + ["form"]
    assert page.simhash == 0
    assert page.text_bytes > 0


def test_a_page_is_frozen() -> None:
    page = parse_page(b"", URL)
    with pytest.raises(AttributeError):
        page.title = "x"  # type: ignore[misc]


def test_near_duplicates_are_near() -> None:
    words = [f"word{n * 7919 % 1009}" for n in range(500)]
    first = parse_page(" ".join(words).encode(), URL, "text/plain").simhash
    words[250] = "other"
    second = parse_page(f"<p>{' '.join(words)}".encode(), URL, "text/html").simhash
    assert simhash_distance(first, second) <= 3
    assert simhash_distance(0, 2**64 - 1) == 64


@pytest.mark.parametrize("seed", range(200))
def test_links_are_those_of_a_browser_grade_parser(seed: int) -> None:
    """Random nonsense in the document's body: a[href] as lexbor's tree has them."""
    rng = random.Random(seed)
    pieces = [
        "<a href=u{n}>",
        "<a href='u{n}&amp;x=1'>",
        '<A HREF="u{n}" href=no>',
        "<a\nhref = u{n}/>",
        "</a>",
        "<!-- <a href=no> -->",
        "<!--><a href=u{n}>",
        "<!---!><a href=u{n}> -->",
        "<script>'<a href=no>'</script>",
        "<script><!--<script></script><a href=no>--></script>",
        "<style><a href=no></style>",
        "<textarea><a href=no></textarea>",
        "<p title='>' x=\"<a href=no>\">",
        "< a href=no>",
        "<a title=a'b\"c href=u{n}>",
        "<?php <a href=no?>",
        "</ a><a href=u{n}>",
        "<svg><desc/><style/></svg>",
        "text &lt; &#60;a",
        "<b/>",
        "<!doctype <a href=no>",
    ]
    body = "".join(rng.choice(pieces).format(n=n) for n in range(30))
    html = f"<!DOCTYPE html><html><body>{body}</body></html>"
    # The tree repeats a link where it rebuilds formatting; the document has it once.
    nodes = LexborHTMLParser(html).css("a[href]")
    expected = list(dict.fromkeys(node.attributes["href"] for node in nodes))
    page = parse_page(html.encode(), URL, "text/html")
    assert [link.target for link in links(page) if link.kind == "a"] == expected


class _Texts(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.words: list[str] = []

    def handle_data(self, data: str) -> None:
        self.words += data.split()


def test_the_length_of_the_text_is_that_of_its_words() -> None:
    html = "<p>one two</p><ul><li>three<li>four &amp; five</ul>"
    reader = _Texts()
    reader.feed(html)
    words = [word for word in reader.words if word.isalnum()]
    assert parse_page(html.encode(), URL, "text/html").text_bytes == sum(
        len(word) + 1 for word in words
    )
