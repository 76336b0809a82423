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


class Group(StrEnum):
    """How a visit went, as people count visits."""

    DONE = "done"
    REFUSED = "refused"
    FAILED = "failed"


class Reaction(NamedTuple):
    """What happens after an outcome. `tries` counts all visits, the first one too."""

    tries: int
    wait: float
    """Seconds before the second try; further waits grow by `growth`."""
    growth: float
    blame: Blame
    meaning: str
    free: bool = False
    """Costs the URL no try, up to `FREE_TRIES`: the server asked us to come later."""
    remedy: str = ""
    """What people can do about it: said at the end of a crawl that met it."""

    def to_native(self, retry_wait: float) -> dict[str, object]:
        # The table's waits are written for a first wait of a minute; the setting scales them all.
        return {
            "blame": self.blame.value,
            "tries": self.tries,
            "wait": round(self.wait * retry_wait / 60.0 * 1e6),
            "growth": self.growth,
            "longest": round(LONGEST_WAIT * 1e6),
            "free": self.free,
        }


LONGEST_WAIT: Final = 86400.0
"""No wait between two tries is longer, in seconds."""

LONGEST_RETRY_AFTER: Final = 86400.0
"""A site's `Retry-After` is believed up to here, in seconds."""

FREE_TRIES: Final = 10
"""Visits that cost a URL no try, before they do."""

_DONE = (1, 0.0, 1.0)
_AGAIN = (4, 60.0, 4.0)

REACTIONS: Final[dict[str, Reaction]] = {
    "fetched": Reaction(*_DONE, Blame.NOBODY, "2xx with a body read to its end"),
    "not_modified": Reaction(*_DONE, Blame.NOBODY, "304, or the body we already have of this URL"),
    "redirected": Reaction(
        *_DONE, Blame.NOBODY, "3xx; the target goes round the ring",
        remedy="its target was no page, or is out of scope: take the target as a seed, or a wider scope.kind (--scope); "
        "a site that redirects to itself may want cookies (fetch.cookies=true)",
    ),
    "gone": Reaction(
        *_DONE, Blame.NOBODY, "404 or 410",
        remedy="the site has no such page: check how the URL is spelt; `gossamer why URL --out DIR` names the page "
        "that links to it",
    ),
    "refused": Reaction(
        *_DONE, Blame.NOBODY, "another 4xx",
        remedy="the site wants a login, or no crawler: look at it in a browser; a rule may send credentials, fetch.headers "
        "other headers",
    ),
    "server_failed": Reaction(
        *_AGAIN, Blame.HOST, "5xx other than a request to slow down",
        remedy="the site fails: look at it in a browser, and crawl it later",
    ),
    "throttled": Reaction(
        12, 30.0, 2.0, Blame.HOST, "429 or 503: the host rests", free=True,
        remedy="the site asks for less: crawl it later, with a longer politeness.delay (--delay)",
    ),
    "robots_refused": Reaction(
        *_DONE, Blame.NOBODY, "the site's robots rules forbid this URL",
        remedy="the site's robots.txt forbids it, which only the site can change; "
        "`gossamer why URL --out DIR` shows the rule",
    ),
    "robots_unreachable": Reaction(
        *_DONE, Blame.HOST, "the site's robots rules could not be had in all the time allowed",
        remedy="the site answers, but not with its robots.txt: crawl it later; a longer politeness.retry_wait, or "
        "politeness.robots_patience of a site that gave it before, waits longer for it",
    ),
    "out_of_scope": Reaction(
        *_DONE, Blame.NOBODY, "outside scope, or refused by a filter",
        remedy="a wider scope.kind (--scope) or another setting of [scope]; `gossamer why URL --out DIR` names which",
    ),
    "over_quota": Reaction(
        *_DONE, Blame.NOBODY, "a limit of depth, pages, bytes or time",
        remedy="a higher limits.depth (--max-depth), limits.dynamic_depth, limits.pages_per_host or `quota` of a rule",
    ),
    "url_refused": Reaction(
        *_DONE, Blame.URL, "no URL that could be fetched",
        remedy="its port belongs to another service (mail, chat, …) and is never visited: use another",
    ),
    "forbidden_address": Reaction(
        *_DONE, Blame.NOBODY, "resolves to an address not visited",
        remedy="loopback, private and other special addresses are visited with --allow-private "
        "(fetch.allow_private)",
    ),
    "dns_not_found": Reaction(
        2, 3600.0, 1.0, Blame.HOST, "the name has no address",
        remedy="check how the name is spelt; one that only your own name server knows needs "
        "dns.servers or dns.answers",
    ),
    "dns_failed": Reaction(
        *_AGAIN, Blame.HOST, "the name server failed",
        remedy="check the network, or name other name servers with dns.servers",
    ),
    "connect_failed": Reaction(
        *_AGAIN, Blame.HOST, "no connection",
        remedy="nobody listens there: check address and port; behind a proxy, set fetch.proxy",
    ),
    "tls_failed": Reaction(
        2, 3600.0, 1.0, Blame.HOST, "the TLS handshake or certificate failed",
        remedy="its certificate is not trusted, or the port speaks no TLS: check it in a browser, "
        "or try http://",
    ),
    "timed_out": Reaction(
        *_AGAIN, Blame.HOST, "a time limit was reached",
        remedy="fetch.connect_timeout, fetch.first_byte_timeout and fetch.total_timeout give it more time",
    ),
    "disconnected": Reaction(
        *_AGAIN, Blame.HOST, "the connection ended before the response",
        remedy="the server hangs up: check that the port speaks HTTP, and crawl it later",
    ),
    "protocol_broken": Reaction(
        2, 600.0, 1.0, Blame.HOST, "not HTTP that we understand",
        remedy="check that the port speaks HTTP; over TLS the URL begins with https://",
    ),
    "encoding_broken": Reaction(
        2, 600.0, 1.0, Blame.URL, "the compression is broken or hostile",
        remedy="the site sends what it does not say: look at it in a browser; a page that is packed very tightly needs a "
        "higher fetch.max_ratio",
    ),
    "too_large": Reaction(
        *_DONE, Blame.URL, "declared larger than the limit", remedy="a higher fetch.max_body"
    ),
    "truncated": Reaction(
        *_DONE, Blame.NOBODY, "ended early or reached the limit; kept, marked",
        remedy="a higher fetch.max_body or fetch.total_timeout, unless the server hung up",
    ),
    "unwanted_type": Reaction(
        *_DONE, Blame.NOBODY, "a type that the crawl does not want",
        remedy="fetch.types names the types that are kept (an empty list: all)",
    ),
    "duplicate": Reaction(
        *_DONE, Blame.NOBODY,
        "the content is stored under another URL, or the URL has a parameter that changes nothing",
    ),
    "set_aside": Reaction(
        *_DONE, Blame.NOBODY, "others like it brought nothing new: waits to be taken up (`gossamer patterns`)",
        remedy="`gossamer patterns DIR` says why, and with --take-up HOST has them visited; limits.doubted_visits and "
        "limits.doubted_share visit more of them",
    ),
    "deferred": Reaction(1, 0.0, 1.0, Blame.NOBODY, "given back: not now, or we are stopping"),
    "internal_error": Reaction(
        2, 60.0, 1.0, Blame.NOBODY, "our own code failed on it: a defect",
        remedy="please report it, with what the log says of it",
    ),
    "rule_dropped": Reaction(
        *_DONE, Blame.NOBODY, "a rule of the crawl drops it",
        remedy="its [[rule]]; `gossamer why URL --out DIR` names it",
    ),
    "dropped": Reaction(
        *_DONE, Blame.NOBODY, "a policy decided against the page, or its host",
        remedy="its policy, a setting of [doors]; `gossamer why URL --out DIR` says why",
    ),
}  # fmt: skip

FORMER: Final = {"trap_suspected": "an earlier version refused it for its look"}
"""Outcomes that stand in the logs of earlier versions only, and what they meant."""


def meaning(outcome: str) -> str:
    """For people, also of an outcome of an earlier version."""
    if outcome in FORMER:
        return FORMER[outcome]
    known = REACTIONS.get(outcome)
    return known.meaning if known else "an outcome that this version does not know"


USUAL: Final = frozenset({"fetched", "not_modified", "redirected", "duplicate", "gone"})
"""Outcomes that any crawl meets, of robots files too: nothing need be done where there are pages."""

_WELL: Final = {"fetched", "not_modified", "redirected", "duplicate", "truncated"}


def group(outcome: str) -> Group:
    """Failed is what the host is blamed for, or what is tried again."""
    if outcome in _WELL:
        return Group.DONE
    reaction = REACTIONS.get(outcome)
    failed = reaction is not None and (reaction.blame is Blame.HOST or reaction.tries > 1)
    return Group.FAILED if failed else Group.REFUSED
