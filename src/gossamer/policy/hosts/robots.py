"""Robots files that cannot be had: how often, and how soon again, a site is asked for its rules.

Nothing is visited meanwhile, so this decides when a host ends that was never there: a mistyped seed, a dead link. What an
answer means is no judgement: RFC 9309 says it, and `rust/core/src/frontier/robots/meaning.rs` repeats it. A host
that has given its rules before is waited for (`politeness.robots_patience`). `docs/reference/failures.md` shows all of
this as a table.
"""

from typing import Final, NamedTuple


class Patience(NamedTuple):
    """How often a host that has never given its rules is asked for them."""

    tries: int
    """All visits, the first one too; then its URLs leave the queue."""
    wait: float
    """Seconds before the second try, with `politeness.retry_wait` of a minute; it scales with that."""
    growth: float
    """Each further wait is so many times the one before."""
    reason: str

    def ends_after(self) -> float:
        """Seconds from the first try to the last, the time limits of the visits left out."""
        return sum(self.wait * self.growth**n for n in range(self.tries - 1))


_SILENT = (3, 60.0, 4.0)

PATIENCE: Final[dict[str, Patience]] = {
    "url_refused": Patience(1, 0.0, 1.0, "our own decision, which does not change by itself"),
    "forbidden_address": Patience(
        1, 0.0, 1.0, "our own decision; a public name does not move to a private address and back"
    ),
    "dns_not_found": Patience(
        2, 5.0, 1.0,
        "NXDOMAIN is an answer of the servers that must know. RFC 2308 lets resolvers keep it for hours, so waiting longer "
        "asks nobody else; once more, because a resolver that has just started answers so too",
    ),
    "dns_failed": Patience(
        *_SILENT, "the name server, often our own, is restarted or out of reach: that takes minutes"
    ),
    "connect_failed": Patience(
        3, 15.0, 4.0,
        "nobody listens. A service that is being restarted is back within a minute or so; a wrong port never is",
    ),
    "tls_failed": Patience(
        2, 10.0, 1.0,
        "certificates are renewed by people or once a day; once more, for a handshake that broke by chance",
    ),
    "timed_out": Patience(*_SILENT, "a server that is overloaded; it needs time more than visits"),
    "disconnected": Patience(*_SILENT, "a server that accepts and hangs up: overloaded or restarting"),
    "internal_error": Patience(2, 60.0, 1.0, "a defect of ours: the same file fails again"),
    "server_failed": Patience(
        6, 60.0, 2.0,
        "the server is there and RFC 9309 forbids everything meanwhile. Half an hour covers a deployment or a "
        "restart of what stands behind it",
    ),
    "throttled": Patience(
        6, 60.0, 2.0, "the server is there and asks for time; with `Retry-After` it says how much"
    ),
}  # fmt: skip
"""By how the visit to the robots file ended."""

OTHERS: Final = Patience(3, 60.0, 4.0, "an answer that is no robots file, nor a refusal of one")
"""Where `PATIENCE` has no row."""

GROWTH: Final = 2.0
"""Each wait is so many times the one before, for a host that gave its rules before and does not now: it is there, and
`politeness.robots_patience` ends it."""


def patience(outcome: str) -> Patience:
    return PATIENCE.get(outcome, OTHERS)


def first_refusal(retry_wait: float) -> float:
    """Seconds that a first "no such name" is remembered: less than until the second try, which else asks nobody."""
    return PATIENCE["dns_not_found"].wait * retry_wait / 60.0 / 2


def to_native(outcomes: list[str], retry_wait: float) -> dict[str, object]:
    def row(of: Patience) -> dict[str, object]:
        wait = round(of.wait * retry_wait / 60.0 * 1e6)
        return {"tries": of.tries, "wait": wait, "growth": of.growth}

    return {
        "unanswered": {outcome: row(patience(outcome)) for outcome in outcomes},
        "robots_growth": GROWTH,
    }
