"""A web of numbers: pages, their links, and which partition each page is of."""

import random
from dataclasses import dataclass

PARTITIONS = 8


@dataclass(frozen=True)
class Web:
    """Page 0 leads to all others."""

    links: tuple[tuple[int, ...], ...]

    def __len__(self) -> int:
        return len(self.links)


def make_web(pages: int, seed: int = 1) -> Web:
    chance = random.Random(seed)
    links: list[set[int]] = [set() for _ in range(pages)]
    for page in range(1, pages):
        links[chance.randrange(page)].add(page)
    for page in range(pages):
        links[page] |= {chance.randrange(pages) for _ in range(3)}
    return Web(tuple(tuple(sorted(one)) for one in links))


def partition_of(page: int) -> int:
    return page % PARTITIONS


def url_of(page: int) -> str:
    return f"http://p{page}.test/"


def page_of(url: str) -> int:
    return int(url.removeprefix("http://p").removesuffix(".test/"))
