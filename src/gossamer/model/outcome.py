"""Outcomes: what the web does to us, and for each what happens next.

The list itself stands in native code (`rust/core/src/outcome.rs`); what we do about each outcome is
decided here, and a test compares the two.
"""

from enum import StrEnum
from typing import Final, NamedTuple


class Blame(StrEnum):
    """Who is blamed for an outcome: decides which counter of failures grows."""

    URL = "url"
    HOST = "host"
    NODE = "node"
    NOBODY = "nobody"


class Policy(NamedTuple):
    """What happens after an outcome. `tries` counts all visits, the first one too."""

    tries: int
    wait: float
    growth: float
    blame: Blame
    meaning: str


_DONE = (1, 0.0, 1.0)
_AGAIN = (4, 60.0, 4.0)

POLICIES: Final[dict[str, Policy]] = {
    "fetched": Policy(*_DONE, Blame.NOBODY, "2xx with a body read to its end"),
    "not_modified": Policy(*_DONE, Blame.NOBODY, "304, or the body we already have of this URL"),
    "redirected": Policy(*_DONE, Blame.NOBODY, "3xx; the target goes round the ring"),
    "gone": Policy(*_DONE, Blame.NOBODY, "404 or 410"),
    "refused": Policy(*_DONE, Blame.NOBODY, "another 4xx"),
    "server_failed": Policy(*_AGAIN, Blame.HOST, "5xx other than a request to slow down"),
    "throttled": Policy(12, 30.0, 2.0, Blame.HOST, "429 or 503: the host rests"),
    "robots_refused": Policy(*_DONE, Blame.NOBODY, "the site's robots rules forbid this URL"),
    "robots_unreachable": Policy(
        *_DONE, Blame.HOST, "the site's robots rules could not be had in all the time allowed"
    ),
    "out_of_scope": Policy(*_DONE, Blame.NOBODY, "outside scope, or refused by a filter"),
    "over_quota": Policy(*_DONE, Blame.NOBODY, "a limit of depth, pages, bytes or time"),
    "url_refused": Policy(*_DONE, Blame.URL, "no URL that could be fetched"),
    "forbidden_address": Policy(*_DONE, Blame.NOBODY, "resolves to an address not visited"),
    "dns_not_found": Policy(2, 3600.0, 1.0, Blame.HOST, "the name has no address"),
    "dns_failed": Policy(*_AGAIN, Blame.HOST, "the name server failed"),
    "connect_failed": Policy(*_AGAIN, Blame.HOST, "no connection"),
    "tls_failed": Policy(2, 3600.0, 1.0, Blame.HOST, "the TLS handshake or certificate failed"),
    "timed_out": Policy(*_AGAIN, Blame.HOST, "a time limit was reached"),
    "disconnected": Policy(*_AGAIN, Blame.HOST, "the connection ended before the response"),
    "protocol_broken": Policy(2, 600.0, 1.0, Blame.HOST, "not HTTP that we understand"),
    "encoding_broken": Policy(2, 600.0, 1.0, Blame.URL, "the compression is broken or hostile"),
    "too_large": Policy(*_DONE, Blame.URL, "declared larger than the limit"),
    "truncated": Policy(*_DONE, Blame.NOBODY, "ended early or reached the limit; kept, marked"),
    "unwanted_type": Policy(*_DONE, Blame.NOBODY, "a type that the crawl does not want"),
    "duplicate": Policy(*_DONE, Blame.NOBODY, "the content is stored under another URL"),
    "trap_suspected": Policy(*_DONE, Blame.NOBODY, "one of an endless family of URLs"),
    "deferred": Policy(1, 0.0, 1.0, Blame.NOBODY, "given back before it began"),
}
