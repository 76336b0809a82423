"""Aliases: when two hosts are one site under two names, so that only one of them is visited.

Evidence is counted natively (`rust/core/src/seen/alias`): paths under which both hosts had the same
page, and paths under which they differed. Nothing is found by names or addresses alone; a shared
address only lowers the number of paths wanted. `gossamer aliases` shows findings and undoes them.
"""

from gossamer.settings.model import AliasSettings

NEAR_BITS = 3
"""Pages under one path whose simhashes differ in at most so many of 64 bits are neither for nor against: two
visits of one page differ so much by a date, a counter or an advertisement. Manku, Jain and Das Sarma (2007) found 3 bits
for near-duplicates in 8 billion pages."""


def to_native(settings: AliasSettings) -> dict[str, object]:
    """The rest is the operator's choice (`alias.*`)."""
    return {
        "enabled": settings.enabled,
        "after": settings.after,
        "after_shared": settings.after_shared,
        "differences": settings.differences,
        "least_bytes": settings.least_bytes,
        "near_bits": NEAR_BITS,
    }
