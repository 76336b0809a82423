"""A site of pages, each with an edit form that is of no use: its pattern is doubted, and most of it set aside."""

import random
import secrets
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import NamedTuple, cast
from urllib.parse import urlsplit

from tests.control.serving import Served
from tests.crawl.pages import Answer, Pages, serving

from gossamer.simweb import SimWeb

PAGES = 120
FEW = 41


class Web(NamedTuple):
    """As much of a simulated web as a crawl's tests ask for."""

    url: str
    pages: Pages

    @property
    def forms(self) -> set[str]:
        return {path for path in self.pages.asked if path.endswith("/edit")}

    def as_simweb(self) -> SimWeb:
        return cast("SimWeb", self)


def site(seed: int = 7) -> dict[str, str | Answer]:
    chance = random.Random(seed)
    words = ["".join(chance.choices("abcdefghijklmnop", k=6)) for _ in range(400)]
    pages: dict[str, str | Answer] = {
        "/": "".join(f'<a href="/wiki/n{number}x">{number}</a> ' for number in range(PAGES))
    }
    for number in range(PAGES):
        text = " ".join(chance.choices(words, k=300))
        pages[f"/wiki/n{number}x"] = f'<p>{text}</p><a href="/wiki/n{number}x/edit">edit</a>'
        form = '<meta name="robots" content="noindex"><form>Write here.</form>'
        pages[f"/wiki/n{number}x/edit"] = form
    return pages


def doubtful() -> AbstractContextManager[Web]:
    return _web(site())


@contextmanager
def _web(pages: Mapping[str, str | Answer]) -> Iterator[Web]:
    with serving(pages) as served:
        yield Web(f"http://127.0.0.1:{served.port}/", served)


def random_parameter() -> Mapping[str, str | Answer]:
    """Pages whose links have a parameter that changes nothing, another value each time."""

    class Made(Mapping[str, str | Answer]):
        def __getitem__(self, place: str) -> str:
            path = urlsplit(place).path
            number = 0 if path == "/" else int(path.removeprefix("/page"))
            links = "".join(
                f'<a href="/page{n}?ref={secrets.token_hex(3)}">{n}</a>' for n in range(FEW)
            )
            words = " ".join(f"text {number * 7 + at}" for at in range(27))
            return f"<title>{number}</title><p>{words}</p>{links}"

        def __contains__(self, place: object) -> bool:
            return urlsplit(str(place)).path in {"/", *(f"/page{n}" for n in range(FEW))}

        def __iter__(self) -> Iterator[str]:
            return iter(())

        def __len__(self) -> int:
            return 0

    return Made()


def served_doubtful(out: Path, *options: str) -> AbstractContextManager[tuple[Served, Web]]:
    """A crawl of such a site that stays when it is done."""
    return _served(site(), out, *options)


def served_random(out: Path) -> AbstractContextManager[tuple[Served, Web]]:
    """A crawl of a site with a random parameter that stays when it is done."""
    return _served(random_parameter(), out)


@contextmanager
def _served(
    pages: Mapping[str, str | Answer], out: Path, *options: str
) -> Iterator[tuple[Served, Web]]:
    with _web(pages) as web:
        crawl = Served(out, web.as_simweb())
        try:
            yield crawl.start("--delay", "0s", "--stay", *options), web
        finally:
            crawl.kill()
