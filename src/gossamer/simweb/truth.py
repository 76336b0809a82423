"""The truth about a simulated web: what a polite crawler must find.

Takes: options. Gives: a row per URL, the start page first. The raw structure (which page links to
which, what a page does) comes from the native model; what follows from it (robots verdicts, reach,
depth, PageRank) is computed here, apart from the server, so that a bug shows.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TextIO

import msgspec
import numpy as np
import numpy.typing as npt

from gossamer._native import SimwebModel
from gossamer.simweb.options import Options, OptionsError
from gossamer.simweb.rank import depths, pagerank
from gossamer.simweb.robots import verdicts

_BLOCK = 20_000
_KINDS = (
    "ok",
    "redirect",
    "error",
    "error_once",
    "reset",
    "reset_once",
    "throttled_once",
    "throttled_once",
    "duplicate",
    "near_duplicate",
)
_STATUS = (200, 0, 500, 500, 0, 0, 429, 503, 200, 200)
_REDIRECT, _ERROR, _RESET = 1, 2, 4
_TRAPS = ("calendar", "growing_path", "session", "parameters", "soft_404", "link_farm")
_PAGE, _DEAD, _HOP, _TRAP = 0, 1, 2, 3
_NOFOLLOW = {"nofollow", "none"}
_NOINDEX = {"noindex", "none"}

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.uint64]


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """What is true of a URL. docs/reference/simweb.md says what each field means."""

    url: str
    allowed: bool
    depth: int | None
    links: list[str]
    duplicate_class: int | None
    change_rate: float
    pagerank: float
    kind: str
    status: int
    fetchable: bool
    redirect: str | None
    noindex: bool
    nofollow: bool
    near_class: int | None
    mirror: bool
    orphan: str | None
    trap: str | None
    charset: str
    charset_header: str | None
    charset_meta: str | None
    title: str | None


@dataclass(frozen=True, slots=True)
class _Facts:
    """The native model's arrays for all pages."""

    kind: npt.NDArray[np.uint8]
    flags: npt.NDArray[np.uint8]
    hint: npt.NDArray[np.uint8]
    charset: npt.NDArray[np.uint8]
    original: Codes
    rate: npt.NDArray[np.float64]
    counts: npt.NDArray[np.uint32]
    links: Codes


def _facts(model: SimwebModel, progress: TextIO | None) -> _Facts:
    parts: list[list[npt.NDArray[Any]]] = [[] for _ in range(8)]
    types = ("u1", "u1", "u1", "u1", "u8", "f8", "u4", "u8")
    for start in range(0, model.pages, _BLOCK):
        for index, raw in enumerate(model.block(start, start + _BLOCK)):
            parts[index].append(np.frombuffer(raw, dtype=types[index]))
        if progress is not None:
            done = min(100, 100 * (start + _BLOCK) // model.pages)
            progress.write(f"\rtruth: pages {done} %")
    if progress is not None:
        progress.write("\n")
    return _Facts(*(np.concatenate(part) for part in parts))


def _hint_effect(number: int, words: list[str], agent: str) -> tuple[bool, bool]:
    """Whether a hint says noindex and nofollow to that agent."""
    if number == 0:
        return False, False
    word, rest = divmod(number - 1, 6)
    named = ("", "gossamer", "otherbot")[rest // 2]
    if named and named != agent.lower():
        return False, False
    said = {part.strip().lower() for part in words[word].split(",")}
    return bool(said & _NOINDEX), bool(said & _NOFOLLOW)


class Truth:
    """All URLs of a web and what is true of them. Rows are made one by one."""

    def __init__(self, options: Options, agent: str, progress: TextIO | None) -> None:
        try:
            self.model = SimwebModel(options.to_json())
        except OptionsError:
            raise
        except ValueError as error:
            raise OptionsError(str(error)) from None
        self.options = options
        self.facts = _facts(self.model, progress)
        self._hints, self._charsets = self.model.names()
        self._chains: dict[int, list[int]] = {
            int(page): self.model.redirect_chain(int(page))
            for page in np.flatnonzero(self.facts.kind == _REDIRECT)
        }
        self._number_nodes()
        self.urls = self.model.urls(self.codes.tobytes())
        self._first_page = np.cumsum(
            [0, *(self.model.host_pages(host) for host in range(self.model.hosts))]
        )
        self._judge(agent)
        reads = self.allowed & ~self.nofollow & self.readable
        self.depth = depths(self.starts, self.targets, reads)
        self.pagerank = pagerank(self.starts, self.targets)

    def _number_nodes(self) -> None:
        """Nodes are all pages, then every other URL that a link or redirect leads to."""
        pages = self.model.pages
        edges = {
            here: there
            for chain in self._chains.values()
            for here, there in itertools.pairwise(chain)
        }
        chained = np.fromiter(
            (code for chain in self._chains.values() for code in chain), np.uint64
        )
        found = np.unique(np.concatenate([self.facts.links, chained]))
        others = found[(found >> np.uint64(56)) != _PAGE]
        self.codes: Codes = np.concatenate([np.arange(pages, dtype=np.uint64), others])
        tails = np.array([edges.get(int(code), -1) for code in others], dtype=np.int64)
        has_tail = tails >= 0
        counts = np.concatenate([self.facts.counts.astype(np.int64), has_tail.astype(np.int64)])
        self.starts: Ints = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
        targets = np.concatenate([self.facts.links, tails[has_tail].astype(np.uint64)])
        # Codes are sorted, pages first, so a code's place is its node number.
        self.targets: Ints = np.searchsorted(self.codes, targets).astype(np.int64)

    def _judge(self, agent: str) -> None:
        count, pages = len(self.codes), self.model.pages
        numbers = (self.codes & np.uint64((1 << 48) - 1)).astype(np.int64)
        kinds = (self.codes >> np.uint64(56)).astype(np.int64)
        of_page = np.searchsorted(self._first_page, numbers, side="right") - 1
        self.hosts: Ints = np.where(kinds == _TRAP, numbers, of_page)
        judges = [verdicts(*self.model.robots(host), agent) for host in range(self.model.hosts)]
        skip = len("http://")
        self.allowed = np.fromiter(
            (
                judges[host](url[url.index("/", skip) :])
                for host, url in zip(self.hosts.tolist(), self.urls, strict=True)
            ),
            np.bool_,
            count,
        )
        effects = [
            _hint_effect(number, self._hints, agent) for number in range(1 + 6 * len(self._hints))
        ]
        self.noindex = np.zeros(count, np.bool_)
        self.nofollow = np.zeros(count, np.bool_)
        shown = ~np.isin(self.facts.kind, (_REDIRECT, _ERROR, _RESET))
        self.noindex[:pages] = np.array([e[0] for e in effects])[self.facts.hint] & shown
        self.nofollow[:pages] = np.array([e[1] for e in effects])[self.facts.hint] & shown
        # Links can be read from a page unless it never gives one; redirects lead on by themselves.
        self.readable = np.ones(count, np.bool_)
        self.readable[:pages] = ~np.isin(self.facts.kind, (_ERROR, _RESET))

    def __len__(self) -> int:
        return len(self.codes)

    def rows(self) -> Iterator[Row]:
        """A row per URL, the start page first."""
        for node in range(len(self.codes)):
            yield self._page(node) if node < self.model.pages else self._other(node)

    def json_lines(self) -> Iterator[bytes]:
        encoder = msgspec.json.Encoder()
        for row in self.rows():
            yield encoder.encode(row) + b"\n"

    def _targets(self, node: int) -> list[str]:
        urls = self.urls
        return [urls[t] for t in self.targets[self.starts[node] : self.starts[node + 1]].tolist()]

    def _depth(self, node: int) -> int | None:
        depth = int(self.depth[node])
        return None if depth < 0 else depth

    def _content_node(self, node: int) -> int:
        """The same page on the host that is mirrored; the page itself elsewhere."""
        host = int(self.hosts[node])
        first = self._first_page
        return node - int(first[host]) + int(first[self.model.content_host(host)])

    def _page(self, node: int) -> Row:
        facts = self.facts
        kind = int(facts.kind[node])
        name = _KINDS[kind]
        served = kind not in {_REDIRECT, _ERROR, _RESET}
        targets = self._targets(node)
        original = int(facts.original[node])
        actual, header, meta = self._charsets[int(facts.charset[node])]
        flags = int(facts.flags[node])
        orphan = None
        if flags & 1:
            host = int(self.hosts[node])
            listed = self.model.sitemap(host) is not None
            orphan = "path" if flags & 2 else "sitemap" if listed else "nothing"
        near = name == "near_duplicate"
        return Row(
            url=self.urls[node],
            allowed=bool(self.allowed[node]),
            depth=self._depth(node),
            links=targets if served else [],
            duplicate_class=None if not served else self._content_node(node) if near else original,
            change_rate=float(facts.rate[node]) if served else 0.0,
            pagerank=float(self.pagerank[node]),
            kind=name,
            status=_STATUS[kind],
            fetchable=served,
            redirect=targets[0] if kind == _REDIRECT else None,
            noindex=bool(self.noindex[node]),
            nofollow=bool(self.nofollow[node]),
            near_class=original if served else None,
            mirror=self.model.content_host(int(self.hosts[node])) != int(self.hosts[node]),
            orphan=orphan,
            trap=None,
            charset=actual,
            charset_header=header,
            charset_meta=meta,
            title=self.model.title(node) if served else None,
        )

    def _other(self, node: int) -> Row:
        code = int(self.codes[node])
        tag, detail = code >> 56, code >> 48 & 0xFF
        kind, status = {_DEAD: ("dead", 404), _HOP: ("redirect", 0), _TRAP: ("trap", 200)}[tag]
        return Row(
            url=self.urls[node],
            allowed=bool(self.allowed[node]),
            depth=self._depth(node),
            links=[],
            duplicate_class=None,
            change_rate=0.0,
            pagerank=float(self.pagerank[node]),
            kind=kind,
            status=status,
            fetchable=tag == _TRAP,
            redirect=self._targets(node)[0] if tag == _HOP else None,
            noindex=False,
            nofollow=False,
            near_class=None,
            mirror=self.model.content_host(int(self.hosts[node])) != int(self.hosts[node]),
            orphan=None,
            trap=_TRAPS[detail] if tag == _TRAP else None,
            charset="utf-8",
            charset_header=None,
            charset_meta=None,
            title=None,
        )


def truth(options: Options, *, agent: str = "gossamer", progress: TextIO | None = None) -> Truth:
    """The truth about the web of those options. The port matters: it stands in the URLs."""
    if options.port == 0:
        raise OptionsError("--port: the truth needs the port that is served, not 0")
    return Truth(options, agent, progress)
