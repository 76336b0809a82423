"""Sites that look worthless by one sign, and are not: each is crawled whole, with default settings."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.crawl.pages import Answer, crawl, serving
from tests.crawl.prose import prose

Site = dict[str, str | Answer]

FRAME = prose("frame")


def links(*targets: str) -> str:
    return "".join(f'<a href="{target}">on</a>' for target in targets)


def titles(count: int) -> list[str]:
    return [f"/docs/{word}" for word in prose("titles", count).split()]


def named_without_suffix() -> Site:
    """Every link redirects to the same URL without `.html`."""
    pages: Site = {"/": prose("/") + links(*(f"{title}.html" for title in titles(150)))}
    for title in titles(150):
        pages[f"{title}.html"] = Answer(status=308, headers={"Location": title})
        pages[title] = prose(title)
    return pages


def marked(mark: str) -> Site:
    """Every page has this mark in its head."""
    pages: Site = {"/": f"<head>{mark}</head>{prose('/')}{links(*titles(150))}"}
    return pages | {title: f"<head>{mark}</head>{prose(title)}" for title in titles(150)}


def noindex_everywhere() -> Site:
    return marked('<meta name="robots" content="noindex">')


def canonical_out_of_scope() -> Site:
    return marked('<link rel="canonical" href="https://www.example.org/">')


def canonical_is_home() -> Site:
    return marked('<link rel="canonical" href="/">')


def folders_without_an_end_in_sight() -> Site:
    """Two folders in each, six deep; the documents are at the end."""
    pages: Site = {}
    level = ["/"]
    for depth in range(7):
        below = []
        for folder in level:
            words = prose(folder, 2).split()
            names = [f"{word}.html" if depth == 6 else f"{word}/" for word in words]
            pages[folder] = f"<h1>Index of {folder}</h1>{links('../', *names)}"
            below += [folder + name for name in names]
        level = below
    return pages | {document: prose(document) for document in level}


def pictures_with_a_frame() -> Site:
    """Each page is a frame around a picture of its own, beside sixty pages of text."""
    albums = [f"/album/{number}" for number in range(60)]
    pages: Site = {"/": FRAME + links(*albums)}
    for number, album in enumerate(albums):
        photos = [f"/photo/{number * 5 + at}" for at in range(5)]
        pages[album] = FRAME + prose(album) + links(*photos)
        for photo in photos:
            pages[photo] = f'{FRAME}<img src="/files{photo}.jpg"><a href="{album}">back</a>'
    return pages


def a_list_beside_copies() -> Site:
    """`?page=` shows the same article again, and the next page of the news."""
    articles = [f"/a-{word}" for word in prose("articles", 25).split()]
    pages: Site = {"/": prose("/") + links("/news", *articles)}
    for article in articles:
        turned = [f"{article}?page={number}" for number in (1, 2, 3)]
        pages |= dict.fromkeys([article, *turned], prose(article) + links(*turned))
    for number in range(1, 31):
        place = "/news" if number == 1 else f"/news?page={number}"
        stories = [f"/story-{word}" for word in prose(place, 3).split()]
        after = [f"/news?page={number + 1}"] if number < 30 else []
        pages[place] = prose(f"news {number}") + links(*stories, *after)
        pages |= {story: prose(story) for story in stories}
    return pages


def views_with_a_text_of_their_own() -> Site:
    """Beside each page `/item/7/` there is `/item/7/specs`, and a page in another language by one more parameter."""
    items = [f"/item/{number}/" for number in range(60)]
    pages: Site = {"/": prose("/") + links(*items)}
    for item in items:
        views = [f"{item}specs", f"{item}?lang=de", f"{item}?lang=de&size=2"]
        pages[item] = prose(item) + links(*views)
        pages |= {view: prose(view) for view in views}
    return pages


SITES: list[Callable[[], Site]] = [
    named_without_suffix,
    noindex_everywhere,
    canonical_out_of_scope,
    canonical_is_home,
    folders_without_an_end_in_sight,
    pictures_with_a_frame,
    a_list_beside_copies,
    views_with_a_text_of_their_own,
]


@pytest.mark.parametrize("site", SITES)
def test_all_content_is_visited(site: Callable[[], Site], tmp_path: Path) -> None:
    pages = site()
    with serving(pages) as served:
        # As fast as it answers: the gap by response time is no part of this.
        fast = ("--set", "politeness.response_factor=0")
        crawl(f"http://127.0.0.1:{served.port}/", *fast, out=tmp_path / "out")
    # Of the copies some may be left out.
    content = {place for place in pages if not place.startswith("/a-") or "?" not in place}
    assert content - set(served.asked) == set()


def test_a_page_seen_in_one_colour_is_visited_for_itself(tmp_path: Path) -> None:
    """`ref` changes nothing; that `/shop3?color=red` was visited does not mean that `/shop3` was."""
    count = 30
    shops = [f"/shop{number}" for number in range(count)]
    pages: Site = {}

    def more(place: str) -> str:
        """Links with a value that is new on each page."""
        return links(*(f"/page{number}.html?ref={abs(hash((place, number))):x}" for number in range(count)))  # fmt: skip

    def missing(place: str) -> str | Answer:
        path, _, query = place.partition("?")
        if path == "/robots.txt":
            return Answer(status=404)
        if path == "/" or path.startswith("/page"):
            return prose(path) + more(place) + (links("/deep1") if path == "/" else "")
        if path.startswith("/deep"):
            depth = int(path.removeprefix("/deep"))
            if depth < 8:
                return prose(path) + links(f"/deep{depth + 1}")
            return prose(path) + links(*(f"{shop}?color=red" for shop in shops))
        if path in shops:
            shown = query if query.startswith("color") else ""
            return prose(path + shown) + links(*(f"{shop}?ref={abs(hash((place, shop))):x}" for shop in shops))  # fmt: skip
        return Answer(status=404)

    with serving(pages, missing) as served:
        fast = ("--set", "politeness.response_factor=0")
        crawl(f"http://127.0.0.1:{served.port}/", *fast, out=tmp_path / "out")
    seen = {place.partition("?")[0] for place in served.asked if "color" not in place}
    assert set(shops) <= seen
