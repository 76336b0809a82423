"""Throttling: what follows when a site asks for less, by 429 or 503.

Its `Retry-After` is obeyed exactly, up to a day; without one the host waits as `outcomes.py` says. After that the gap of
the host is wider: going on at full speed would meet the next 429 at once. Each throttling doubles the gap, each stretch
of good answers takes half of what was added away (`rust/core/src/frontier/throttle.rs`). Answers to visits that were
under way together count once.
"""

LEAST = 0.25
"""Seconds: the gap after a throttling is at least this. Limits that servers are set up with are mostly between one and
ten requests a second; a crawl without a delay meets them at some hundred, and doubling from there would cost a refusal
for each step."""

GROWTH = 2.0
"""A gap after a throttling is so many times the one before: whatever rate a site allows, a few steps find it."""

LONGEST = 60.0
"""Seconds: a gap does not widen beyond this. Limits are mostly so many requests a minute; a site that wants less than one
says so by `Retry-After` or Crawl-delay, and one that refuses even that is set aside (`set_aside.py`)."""

STRETCH = 20
"""Good answers after which half of what was added goes. A site whose limit lies below our usual rate thus has one request
in twenty to forty refused, while the gap swings around that limit. More would punish sites where a page now and then
says 503 for reasons of its own: up to one in twenty does not slow the others down. (A page that is refused again, while
others are answered, widens nothing.)"""


def to_native() -> dict[str, object]:
    return {
        "throttling": {
            "least": round(LEAST * 1e6),
            "growth": GROWTH,
            "longest": round(LONGEST * 1e6),
            "stretch": STRETCH,
        }
    }
