"""A site of pages, each with an edit form that is of no use: its pattern is doubted, and most of it set aside."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, cast

from tests.control.serving import Served
from tests.crawl.pages import Answer, Pages, serving

from gossamer.simweb import SimWeb

PAGES = 120


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


@contextmanager
def doubtful() -> Iterator[Web]:
    with serving(site()) as pages:
        yield Web(f"http://127.0.0.1:{pages.port}/", pages)


@contextmanager
def served_doubtful(out: Path, *options: str) -> Iterator[tuple[Served, Web]]:
    """A crawl of it that stays when it is done."""
    with doubtful() as web:
        crawl = Served(out, web.as_simweb())
        try:
            yield crawl.start("--delay", "0s", "--stay", *options), web
        finally:
            crawl.kill()
