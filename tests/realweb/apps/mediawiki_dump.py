"""Articles as an XML dump of MediaWiki: revisions, talk pages, categories, redirects, the project's own pages."""

import datetime as dt
import re
from collections.abc import Iterator, Sequence
from xml.sax.saxutils import escape

from tests.realweb.texts import Article

PROJECT = "Database handbook"
BEGIN = dt.datetime(2023, 11, 14, tzinfo=dt.UTC)
PAGE = "<page><title>{title}</title><ns>{space}</ns>{revisions}</page>\n"
REVISION = (
    "<revision><timestamp>{moment:%Y-%m-%dT%H:%M:%SZ}</timestamp><contributor><ip>{author}</ip></contributor>"
    "<comment>{reason}</comment><model>wikitext</model><format>text/x-wiki</format>"
    '<text xml:space="preserve">{text}</text></revision>'
)
DUMP = (
    '<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="en">\n'
    "{pages}</mediawiki>\n"
)
REDIRECTED = 10
"""One article in so many has a second title."""
ABOUT = ("About", "Privacy policy", "General disclaimer")
"""The pages of the project that every page links to."""


def main_page(found: Sequence[Article]) -> str:
    """Links to every category; the page itself is made by the installation, so it is not in the dump."""
    return "".join(
        f"* [[:Category:{name}]]\n" for name in dict.fromkeys(_categories(found).values())
    )


def dump(found: Sequence[Article]) -> str:
    """All pages of the wiki."""
    return DUMP.format(pages="".join(_pages(found)))


def _pages(found: Sequence[Article]) -> Iterator[str]:
    titles = _titles(found)
    categories = _categories(found)
    for number, article in enumerate(found):
        title = titles[article.name]
        links = [titles[link] for link in article.links]
        if number % REDIRECTED == 1:
            links.append(_redirect(found[number - 1]))
        yield _page(title, 0, _drafts(article, links, categories[article.group], number), number)
        if number % 4 == 0:
            remark = article.paragraphs[-1][:400]
            yield _page(f"Talk:{title}", 1, [f"== Unclear ==\n<nowiki>{remark}</nowiki>\n"], number)
        if number % REDIRECTED == 0:
            yield _page(_redirect(article), 0, [f"#REDIRECT [[{title}]]\n"], number)
    for number, category in enumerate(dict.fromkeys(categories.values())):
        text = "" if category == "Handbook" else f"See [[{category}]]. [[Category:Handbook]]\n"
        yield _page(f"Category:{category}", 14, [text or "All of it.\n"], number)
    for number, name in enumerate(ABOUT):
        text = "\n\n".join(f"<nowiki>{line}</nowiki>" for line in found[number + 1].paragraphs)
        yield _page(f"{PROJECT}:{name}", 4, [text], number)


def _categories(found: Sequence[Article]) -> dict[str, str]:
    """By the name of the article above."""
    titles = _titles(found)
    return {article.group: titles.get(article.group, "Handbook") for article in found}


def _titles(found: Sequence[Article]) -> dict[str, str]:
    """By the article's name; what would be the same title gets the name too."""
    titles: dict[str, str] = {}
    for article in found:
        title = re.sub(r"[][#<>|{}_:/?%+&\s]+", " ", article.title).strip()
        title = title[:1].upper() + title[1:]
        titles[article.name] = f"{title} ({article.name})" if title in titles.values() else title
    return titles


def _redirect(article: Article) -> str:
    return f"Short name of {article.name.replace('_', '-')}"


def _drafts(article: Article, linked: Sequence[str], category: str, number: int) -> list[str]:
    """The texts of a page from its first revision to its last."""
    links = "".join(f"* [[{title}]]\n" for title in linked)
    texts = []
    for revision in range(1 + number % 4, 0, -1):
        kept = article.paragraphs[: max(1, len(article.paragraphs) // revision)]
        middle = len(kept) // 2
        body = "".join(
            ("== Details ==\n" if place == middle and middle else "")
            + f"<nowiki>{text}</nowiki>\n\n"
            for place, text in enumerate(kept)
        )
        texts.append(f"{body}== See also ==\n{links}\n[[Category:{category}]]\n")
    return texts


def _page(title: str, space: int, texts: Sequence[str], number: int) -> str:
    revisions = [
        REVISION.format(
            moment=BEGIN + dt.timedelta(days=30 * place, minutes=7 * number),
            author=f"192.0.2.{1 + (number + place) % 12}",
            reason="more of it" if place else "created",
            text=escape(text),
        )
        for place, text in enumerate(texts)
    ]
    return PAGE.format(title=escape(title), space=space, revisions="".join(revisions))
