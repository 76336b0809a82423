"""Real text to fill an application with: the manual of PostgreSQL, a thousand pages that link to each other."""

import functools
import posixpath
import re
from collections import deque
from dataclasses import dataclass
from pathlib import Path

from selectolax.lexbor import LexborHTMLParser
from tests.realweb.install import UNPACKED

TEXT_PACKAGES = ("postgresql-doc-15",)
"""To be among the `read_packages` of an application that takes articles."""
ROOT = UNPACKED / "usr/share/doc/postgresql-doc-15/html"


@dataclass(frozen=True)
class Article:
    """A page of text: `group` is the name of the article above it, `links` those that it mentions."""

    name: str
    title: str
    group: str
    paragraphs: tuple[str, ...]
    links: tuple[str, ...]


@functools.cache
def articles(count: int) -> tuple[Article, ...]:
    """The first so many, by links from the contents; links and groups stay among them."""
    found: dict[str, Article] = {}
    waiting = deque(["index"])
    seen = {"index"}
    while waiting and len(found) < count:
        name = waiting.popleft()
        article = _read(ROOT / f"{name}.html")
        if article.paragraphs:
            found[name] = article
        for link in article.links:
            if link not in seen:
                seen.add(link)
                waiting.append(link)
    return tuple(
        Article(
            article.name,
            article.title,
            article.group if article.group in found else "",
            article.paragraphs,
            tuple(link for link in article.links if link in found),
        )
        for article in found.values()
    )


def _read(path: Path) -> Article:
    tree = LexborHTMLParser(path.read_bytes())
    above = tree.css_first("a[accesskey=u]")
    for navigation in tree.css(".navheader, .navfooter, script"):
        navigation.decompose()
    heading = tree.css_first("h1, h2, title")
    text = [_plain(node.text()) for node in tree.css("p, pre, dt, li")]
    links = [_plain(node.attributes["href"] or "") for node in tree.css("a[href]")]
    names = [link.partition("#")[0].removesuffix(".html") for link in links]
    here = path.stem
    return Article(
        name=here,
        title=re.sub(
            r"^(Chapter |Appendix |Part )?[0-9A-Z.]+\. ",
            "",
            _plain(heading.text() if heading else here),
        ),
        group=posixpath.splitext((above.attributes["href"] or "") if above else "")[0],
        paragraphs=tuple(dict.fromkeys(line for line in text if len(line) > 2)),
        links=tuple(
            dict.fromkeys(n for n in names if n != here and (path.parent / f"{n}.html").is_file())
        ),
    )


def _plain(text: str) -> str:
    return " ".join(text.split())
