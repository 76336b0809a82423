"""Figures of one crawl, by the log of the front: what was requested, in which order, with which status."""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from urllib.parse import quote_from_bytes

from tests.realweb.app import PORT
from tests.realweb.patterns import commonest

BUDGET = 1.5
"""Requests per content page at which coverage is read off."""
CURVE = (0.5, 1.0, 1.5, 2.0, 3.0, 5.0)


@dataclass(frozen=True)
class Request:
    """A line of the log."""

    seconds: float
    url: str
    status: int


@dataclass(frozen=True)
class Figures:
    """What a crawl got and what it cost; shares are of the content pages."""

    pages: int
    covered: float
    requests: int
    per_page: float
    within_budget: float
    curve: dict[float, float]
    statuses: dict[int, int]
    junk: dict[str, int]
    """Requests that were not the first of a content page: the commonest patterns."""
    missing: list[str]


def requests_of(log: bytes) -> list[Request]:
    """In the order of the log; robots.txt is a request like any other."""
    found = []
    for line in log.splitlines():
        left, _, rest = line.partition(b" ")
        host, _, rest = rest.partition(b" ")
        target, status, _ = rest.rsplit(b" ", 2)
        url = normal(f"http://{host.decode('latin-1')}:{PORT}".encode() + target)
        found.append(Request(float(left), url, int(status)))
    return found


def normal(url: bytes | str) -> str:
    """One spelling of percent-encoding, so that crawlers that differ there are not judged by it."""
    raw = url.encode() if isinstance(url, str) else url
    raw = re.sub(rb"%([0-9A-Fa-f]{2})", _decoded, raw)
    return quote_from_bytes(raw, safe=_KEPT)


def _decoded(match: re.Match[bytes]) -> bytes:
    byte = bytes.fromhex(match[1].decode())
    return match[0].upper() if byte in _RESERVED else byte


_RESERVED = {bytes([code]) for code in b"%/?#&=+;"}
_KEPT = "%/?#&=+;:@!$'()*,~[]|"


def figures(requests: Iterable[Request], truth: set[str], page_of: Callable[[str], str]) -> Figures:
    """Coverage is counted by the first answer 200 to each content page."""
    wanted = {normal(url) for url in truth}
    got: set[str] = set()
    after: list[int] = []
    statuses: Counter[int] = Counter()
    wasted: list[tuple[int, str]] = []
    for request in requests:
        statuses[request.status] += 1
        page = normal(page_of(request.url))
        if request.status == 200 and page in wanted and page not in got:
            got.add(page)
        else:
            wasted.append((request.status, request.url))
        after.append(len(got))
    pages = len(wanted)

    def share(per_page: float) -> float:
        made = min(int(per_page * pages), len(after))
        return after[made - 1] / pages if made else 0.0

    return Figures(
        pages=pages,
        covered=len(got) / pages,
        requests=len(after),
        per_page=len(after) / pages,
        within_budget=share(BUDGET),
        curve={point: share(point) for point in CURVE},
        statuses=dict(sorted(statuses.items())),
        junk=commonest(wasted),
        missing=sorted(wanted - got),
    )
