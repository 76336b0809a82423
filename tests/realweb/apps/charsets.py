"""Static pages in legacy charsets: translations of manuals, encoded as such sites once were.

Each charset is a folder; how it is declared differs (HTTP header, either form of `meta`, an alias as a label). Links
have the title in them, in one of three ways, with what a browser then requests:

- raw in the path: percent-encoded as UTF-8, whatever the page's charset
- percent-encoded bytes of the charset in the path: as they are
- raw in the query: percent-encoded in the page's charset

Truth: all pages.
"""

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar
from urllib.parse import quote, quote_from_bytes

from selectolax.lexbor import LexborHTMLParser
from tests.realweb.app import App, Site
from tests.realweb.install import UNPACKED

GUIDE = UNPACKED / "usr/share/doc/installation-guide-amd64"


@dataclass(frozen=True)
class Edition:
    """A manual in a charset. `label` is what pages say; `header` and `meta`: where they say it."""

    charset: str
    codec: str
    source: Path
    index: str
    label: str
    header: bool = False
    meta: str = ""


@dataclass(frozen=True)
class Page:
    """A page of an edition: its link as pages of the same charset have it, and what is then requested."""

    source: Path
    href: str
    url: str
    files: tuple[bytes, ...]
    """Below the edition's folder; nginx looks for a title in the query as it came, undecoded."""


CONTENT_TYPE = '<meta http-equiv="Content-Type" content="text/html; charset={label}">'
SHORT = "<meta charset={label}>"
EDITIONS = (
    # Pages that say gb2312 are read as GBK.
    Edition("gbk", "gbk", GUIDE / "zh_CN", "index.html", "gb2312", meta=CONTENT_TYPE),
    Edition("shift_jis", "cp932", GUIDE / "ja", "index.html", "Shift_JIS", meta=SHORT),
    Edition("koi8-r", "koi8_r", GUIDE / "ru", "index.html", "koi8-r", header=True),
    Edition("euc-kr", "euc_kr", GUIDE / "ko", "index.html", "EUC-KR", header=True, meta=CONTENT_TYPE),
    Edition("windows-1253", "cp1253", GUIDE / "el", "index.html", "windows-1253", meta=CONTENT_TYPE),
    Edition("euc-jp", "euc_jp", UNPACKED / "usr/share/debian-reference", "index.ja.html", "x-euc-jp", header=True),
)  # fmt: skip


class Charsets(App):
    name = "charsets"
    number = 5
    read_packages = ("installation-guide-amd64", "debian-reference-ja")
    most: ClassVar[dict[bool, int]] = {False: 1000, True: 20}
    """Pages of an edition, in a full and in a small web."""

    @property
    def root(self) -> Path:
        return self.folder / "root"

    def prepare(self) -> None:
        truth = [self.url + "/"]
        starts = []
        for edition in EDITIONS:
            folder = self.root / edition.charset
            (folder / "titles").mkdir(parents=True)
            pages = pages_of(edition, self.most[self.small])
            for page in pages.values():
                body = rewritten(edition, page, pages)
                for name in page.files:
                    Path(os.fsdecode(bytes(folder) + b"/" + name)).write_bytes(body)
                truth.append(f"{self.url}/{edition.charset}/{page.url}")
            starts.append(f"{edition.charset}/{pages[edition.index].url}")
        links = "".join(f'<li><a href="{start}">{start}</a>' for start in starts)
        (self.root / "index.html").write_text(
            f"<meta charset=utf-8><title>Manuals</title><ul>{links}</ul>"
        )
        (self.folder / "truth.json").write_text(json.dumps(truth))

    def sites(self) -> list[Site]:
        directives = f"root {self.root}; index index.html;"
        for edition in EDITIONS:
            folder = f"/{edition.charset}/"
            charset = f"charset {edition.label};" if edition.header else ""
            titles = f"try_files {folder}titles/$arg_title.html =404;"
            directives += (
                f"\n        location {folder} {{ {charset} }}"
                f"\n        location = {folder}show {{ {charset} {titles} }}"
            )
        return [Site(self.address, directives)]

    def truth(self) -> set[str]:
        return set(json.loads((self.folder / "truth.json").read_text()))


def pages_of(edition: Edition, most: int) -> dict[str, Page]:
    """By the name of the source file; the start page is the first."""
    names = sorted(path.name for path in edition.source.glob("*.html"))
    names.sort(key=lambda name: name != edition.index)
    pages: dict[str, Page] = {}
    taken: set[str] = set()
    for number, name in enumerate(names[:most]):
        source = edition.source / name
        title = _title(source, edition.codec)
        title += f"_{number}" if title in taken else ""
        taken.add(title)
        pages[name] = _page(source, title, title.encode(edition.codec), number % 3)
    return pages


def _page(source: Path, title: str, raw: bytes, way: int) -> Page:
    if way == 0:
        return Page(source, f"{title}.html", quote(title) + ".html", (title.encode() + b".html",))
    if way == 1:
        escaped = quote_from_bytes(raw) + ".html"
        return Page(source, escaped, escaped, (raw + b".html",))
    # Second bytes can be ASCII signs, which some clients escape in a query and browsers do not.
    spellings = {quote_from_bytes(raw, safe=""), quote_from_bytes(raw, safe="@[\\]^`{|}~")}
    url = "show?title=" + quote_from_bytes(raw, safe="")
    files = tuple(f"titles/{spelling}.html".encode() for spelling in sorted(spellings))
    return Page(source, f"show?title={title}", url, files)


def _title(source: Path, codec: str) -> str:
    node = LexborHTMLParser(source.read_bytes()).css_first("title")
    text = (node.text() if node else source.stem).encode(codec, "ignore").decode(codec)
    return re.sub(r"[^\w-]+", "_", text).strip("_")[:24]


def rewritten(edition: Edition, page: Page, pages: dict[str, Page]) -> bytes:
    """The page in its charset, with links to the pages that there are."""
    tree = LexborHTMLParser(page.source.read_bytes())
    for node in tree.css("meta[http-equiv], meta[charset], link, img"):
        node.decompose()
    for node in tree.css("a[href]"):
        name, _, fragment = (node.attributes["href"] or "").partition("#")
        if name in pages:
            node.attrs["href"] = pages[name].href + (f"#{fragment}" if fragment else "")
        elif "://" not in name:
            del node.attrs["href"]
    html = tree.html or ""
    html = html.replace("<head>", "<head>" + edition.meta.format(label=edition.label), 1)
    return html.encode(edition.codec, "xmlcharrefreplace")
