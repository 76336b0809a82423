"""Set aside and give up: what happens to a host that only fails.

A host with so many failures in a row rests; each rest is longer than the one before. After some rests
it is given up: its URLs are refused with an outcome, for a month. After that the next link to it is tried again.
"""

from gossamer.settings.model import PolitenessSettings

FAILURES_BEFORE_WAIT = 2
"""Failures in a row after which the host waits, and not the URLs alone. One page that always fails is common
on good hosts (a broken script), and must not hold up the others; a third failure in a row rarely is the page's."""

GROWTH = 4.0
"""Each rest is so many times the one before it."""

GIVEN_UP_FOR = 30 * 86400.0
"""URLs of a host that was given up are refused for this long, in seconds."""


def to_native(settings: PolitenessSettings) -> dict[str, object]:
    """The operator chooses when, for how long and how often (`politeness.set_aside_*`)."""
    return {
        "failures_before_wait": FAILURES_BEFORE_WAIT,
        "set_aside_after": settings.set_aside_after,
        "set_aside_for": round(settings.set_aside_for * 1e6),
        "set_aside_growth": GROWTH,
        "set_aside_times": settings.set_aside_times,
        "given_up_for": round(GIVEN_UP_FOR * 1e6),
    }
