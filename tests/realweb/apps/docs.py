"""Documentation trees on nginx: static HTML of Debian packages, one host a package, paths of up to nine folders.

Truth: the HTML files that a walk over the files reaches by links from the start pages.
"""

import contextlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar
from urllib.parse import quote, unquote, urljoin, urlsplit

from selectolax.lexbor import LexborHTMLParser
from tests.realweb.app import App, Site
from tests.realweb.install import UNPACKED

LINKS = {"a": "href", "area": "href", "frame": "src", "iframe": "src"}


class Docs(App):
    name = "docs"
    number = 1
    starts: ClassVar[dict[str, str]] = {
        "git-doc": "git-doc/index.html",
        "python3.11-doc": "python3.11/html/index.html",
        "postgresql-doc-15": "postgresql-doc-15/html/index.html",
        "libboost1.81-doc": "libboost1.81-doc/doc/html/index.html",
        "openjdk-17-doc": "openjdk-17-jre-headless/api/index.html",
    }
    # More pages than other small webs have, but static ones, and paths as deep as those of the full one.
    small_starts: ClassVar[dict[str, str]] = {
        "debian-policy": "debian-policy/policy.html/index.html",
        "junit4-doc": "junit4/api/index.html",
    }
    read_packages = tuple(dict.fromkeys((*starts, *small_starts)))
    root = UNPACKED / "usr/share/doc"

    def _starts(self) -> list[str]:
        return list((self.small_starts if self.small else self.starts).values())

    def sites(self) -> list[Site]:
        found = []
        for number, start in enumerate(self._starts(), 1):
            directives = (
                f"root {self.root};\n"
                f"        location / {{ return 404; }}\n"
                f"        location /{folder_of(start)}/ {{ index index.html; }}"
            )
            found.append(Site(f"127.30.1.{number}", directives))
        return found

    @contextlib.contextmanager
    def serve(self) -> Iterator[list[str]]:
        yield [
            f"{site.url}/{start}" for site, start in zip(self.sites(), self._starts(), strict=True)
        ]

    def prepare(self) -> None:
        """Nothing to fill; the walk takes a minute, so its result is kept."""
        found = []
        for site, start in zip(self.sites(), self._starts(), strict=True):
            pages = reachable(self.root.resolve(), folder_of(start), start)
            found += [f"{site.url}/{quote(page)}" for page in pages]
        (self.folder / "truth.json").write_text(json.dumps(sorted(found)))

    def truth(self) -> set[str]:
        return set(json.loads((self.folder / "truth.json").read_text()))

    def page_of(self, url: str) -> str:
        """A folder is its index page."""
        return url + "index.html" if url.endswith("/") else url


def folder_of(start: str) -> str:
    """The package's folder, all that its host serves."""
    return start.split("/", maxsplit=1)[0]


def reachable(root: Path, served: str, start: str) -> set[str]:
    """Paths of HTML files below `root/served`, by links from `start`."""
    found = {start}
    waiting = [start]
    while waiting:
        page = waiting.pop()
        for link in links_of((root / page).read_bytes(), page):
            path = link + "index.html" if link.endswith("/") else link
            if (root / path).is_dir() and (root / path / "index.html").is_file():
                path += "/index.html"
            if path in found or not path.startswith(served + "/"):
                continue
            if path.endswith((".html", ".htm")) and (root / path).is_file():
                found.add(path)
                waiting.append(path)
    return found


def links_of(body: bytes, page: str) -> set[str]:
    """Paths on the same host that a page links to."""
    tree = LexborHTMLParser(body)
    here = "http://here/"
    base_node = tree.css_first("base[href]")
    base = urljoin(here + quote(page), base_node.attributes["href"] if base_node else "")
    found = set()
    for tag, attribute in LINKS.items():
        for node in tree.css(f"{tag}[{attribute}]"):
            try:
                link = urlsplit(urljoin(base, (node.attributes[attribute] or "").strip()))
            except ValueError:
                continue
            # A bare percent sign is an invalid path, which nginx answers with 400.
            bare = re.search("%(?![0-9A-Fa-f]{2})", link.path)
            if link.scheme == "http" and link.netloc == "here" and not bare:
                found.add(unquote(link.path).lstrip("/"))
    return found
