"""Requests by their pattern: names of pages, numbers and values that vary are left out."""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from urllib.parse import urlsplit

FEW = 12
"""A parameter with more values than this is not told by its values."""
SHOWN = 50
SCRIPTS = (".php", ".cgi", ".pl", "robots.txt", "sitemap.xml")


def commonest(requests: Sequence[tuple[int, str]]) -> dict[str, int]:
    """The commonest patterns of (status, URL), the commonest first."""
    values: defaultdict[str, set[str]] = defaultdict(set)
    for _, url in requests:
        for name, value in _parameters(url):
            values[name].add(value)
    few = {name for name, found in values.items() if len(found) <= FEW}
    counted = Counter(f"{status} {_pattern(url, few)}" for status, url in requests)
    return dict(counted.most_common(SHOWN))


def _parameters(url: str) -> list[tuple[str, str]]:
    pairs = [pair.partition("=") for pair in re.split("[&;]", urlsplit(url).query) if pair]
    return [(re.sub("[0-9]+", "N", name), value) for name, _, value in pairs]


def _pattern(url: str, few: set[str]) -> str:
    parameters = _parameters(url)
    folders, _, name = urlsplit(url).path[1:].rpartition("/")
    top, _, below = folders.partition("/")
    if parameters and not name:
        # Views of folders are one pattern, whatever the folder.
        top, below = "…" if top else "", ""
    # A folder with a colon is a special page of a wiki, and the name below it its argument.
    shown = below if ":" in below else below and "…"
    path = "/".join(["", *filter(None, (top, shown)), _page(name)])
    query = "&".join(f"{name}={value if name in few else '*'}" for name, value in parameters)
    return re.sub("[0-9]+", "N", path) + ("?" + query if query else "")


def _page(name: str) -> str:
    """Names of pages differ; scripts are told, and what is before a colon, a wiki's name space."""
    if not name or name.endswith(SCRIPTS):
        return name
    space, colon, page = name.rpartition(":")
    suffix = re.search(r"\.[A-Za-z0-9]{1,5}$", page)
    return f"{space}{colon}*{suffix[0] if suffix else ''}"
