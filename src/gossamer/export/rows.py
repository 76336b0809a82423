"""Rows of pages and of links. Text from the web is text in a field, never more."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import msgspec

from gossamer._native import (
    ParsedPage,
    UrlRefused,
    UrlRules,
    canonical_url,
    canonical_urls,
    decode_body,
    parse_page,
)
from gossamer.export.stored import StoredPage, stored_pages
from gossamer.library.http import field, fields
from gossamer.settings import CrawlSettings, load_saved
from gossamer.settings.url_rules import url_rules

TEXT_LIMIT = 64 << 20
"""Decoded bytes of a page that are read at most."""


TEXTS = ("text/", "application/xhtml", "application/xml", "application/json")
"""Types of pages that are text."""


class PageRow(msgspec.Struct, frozen=True, rename={"from_url": "from"}):
    """A page. `None`: not known, or not to be had."""

    url: str
    time: str
    host: str
    ip: str | None
    outcome: str
    status: int | None
    mime: str | None
    charset: str | None
    title: str | None
    lang: str | None
    digest: str | None
    simhash: str | None
    bytes: int
    ms: float | None
    depth: int
    from_url: str | None
    outlinks: int | None
    noindex: bool | None
    nofollow: bool | None
    noarchive: bool | None
    soft_404: bool
    canonical: str | None
    truncated: str | None
    duplicate_of: str | None
    warc_file: str
    warc_offset: int
    warc_length: int


class HtmlRow(PageRow, frozen=True, rename={"from_url": "from"}):
    """A page with its body as text, decoded by its charset; `None`: it is no text, or stored under another URL."""

    html: str | None = None


class LinkRow(msgspec.Struct, frozen=True, rename={"from_url": "from"}):
    """A link as it stands in a page, its target absolute and canonical."""

    from_url: str
    to: str
    kind: str
    rel: str
    anchor: str


@dataclass(frozen=True, slots=True)
class _Reader:
    settings: CrawlSettings
    rules: UrlRules

    @staticmethod
    def of(out: Path) -> "_Reader":
        file = out / "crawl.toml"
        settings = load_saved(file) if file.exists() else CrawlSettings()
        return _Reader(settings, url_rules(settings))

    @staticmethod
    def body(stored: StoredPage) -> bytes | None:
        """As the server meant it, without its coding; `None` where it is stored under another URL."""
        record = stored.page.record
        if record.kind != "response" or record.body is None:
            return None
        coding = field(fields(record.head), "content-encoding")
        return decode_body(record.body, coding, TEXT_LIMIT)[0] if coding else record.body

    def parse(self, stored: StoredPage, body: bytes | None) -> ParsedPage | None:
        """What the page says."""
        if body is None:
            return None
        head = fields(stored.page.record.head)
        scope, parse = self.settings.scope, self.settings.parse
        return parse_page(
            body,
            stored.line.url,
            field(head, "content-type"),
            [(name, value) for name, value in head if name in {"link", "x-robots-tag"}],
            agent=self.settings.fetch.agent,
            links_bytes=parse.links_bytes,
            anchor_bytes=parse.anchor_bytes,
            forms=scope.forms,
            resources=scope.resources,
            now=datetime.fromisoformat(stored.line.time).timestamp(),
        )

    def absolute(self, page: ParsedPage, url: str, links: list[str]) -> list[str | None]:
        """Links of a page as URLs; `None` for what is none."""
        base = url
        if page.base is not None:
            try:
                base = canonical_url(page.base, url)
            except UrlRefused:
                base = url
        return [to for to, _ in canonical_urls(links, base, self.rules, page.charset)]

    def canonical(self, page: ParsedPage, url: str) -> str | None:
        """The URL that the page names as its own."""
        return self.absolute(page, url, [page.canonical])[0] if page.canonical else None

    def links(self, page: ParsedPage, url: str) -> Iterator[LinkRow]:
        links = [link for link in page.links if link[0] != "base"]
        targets = self.absolute(page, url, [link[1] for link in links])
        for (kind, _, rel, anchor, _), to in zip(links, targets, strict=True):
            if to is not None:
                yield LinkRow(url, to, kind, rel, anchor)


def _text(body: bytes | None, page: ParsedPage | None, mime: str | None) -> str | None:
    if body is None or page is None or not (mime or "text/html").startswith(TEXTS):
        return None
    try:
        return body.decode(page.charset, "replace")
    except LookupError:
        return body.decode("utf-8", "replace")


def page_rows(out: Path, *, html: bool = False) -> Iterator[PageRow]:
    """A row per page of the crawl in `out`; `html`: with its body."""
    reader = _Reader.of(out)
    for stored in stored_pages(out):
        line, record = stored.line, stored.page.record
        body = reader.body(stored)
        page = reader.parse(stored, body)
        row = PageRow(
            url=line.url,
            time=line.time,
            host=line.host,
            ip=line.ip,
            outcome=line.outcome,
            status=line.status,
            mime=record.mime,
            charset=page.charset if page else None,
            title=page.title if page else None,
            lang=(page.lang or None) if page else None,
            digest=line.digest,
            simhash=f"{page.simhash:016x}" if page else None,
            bytes=line.bytes,
            ms=line.ms,
            depth=line.depth,
            from_url=line.from_url,
            outlinks=len({link.to for link in reader.links(page, line.url)}) if page else None,
            noindex=page.noindex if page else None,
            nofollow=page.nofollow if page else None,
            noarchive=page.noarchive if page else None,
            soft_404=line.soft_404 is not None,
            canonical=reader.canonical(page, line.url) if page else None,
            truncated=record.truncated,
            duplicate_of=record.refers_to_uri,
            warc_file=stored.page.file.name.removesuffix(".open"),
            warc_offset=record.offset,
            warc_length=record.length,
        )
        if html:
            fields_of = {name: getattr(row, name) for name in row.__struct_fields__}
            yield HtmlRow(**fields_of, html=_text(body, page, record.mime))
        else:
            yield row


def link_rows(out: Path) -> Iterator[LinkRow]:
    """A row per link of each page, in the order of the page; the same link may stand twice."""
    reader = _Reader.of(out)
    for stored in stored_pages(out):
        page = reader.parse(stored, reader.body(stored))
        if page is not None:
            yield from reader.links(page, stored.line.url)
