"""Robots files that cannot be had: how often, and how soon again, a site is asked for its rules.

Nothing is visited meanwhile. What an answer means is no judgement: RFC 9309 says it, and
`rust/core/src/frontier/robots/meaning.rs` repeats it.
"""

TRIES = 3
"""Visits to the robots file of a host where nobody has ever answered, the first one too; then its URLs leave the
queue. Names without an address and closed ports are the most common failures of a broad crawl, and hardly ever mend
within a crawl: with `politeness.retry_wait` of a minute, three tries end after five."""

GROWTH_UNANSWERED = 4.0
"""Each wait between these tries is so many times the one before: a restart takes a minute, a move some more."""

GROWTH = 2.0
"""The same for a host that answers, but not with its rules (5xx, 429): it is there, and `politeness.robots_patience`
ends it, so it is asked more steadily."""


def to_native() -> dict[str, object]:
    return {
        "robots_tries": TRIES,
        "robots_growth_unanswered": GROWTH_UNANSWERED,
        "robots_growth": GROWTH,
    }
