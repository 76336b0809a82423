"""Aliases: when two hosts are one site under two names, so that only one of them is visited.

Evidence is counted natively (`rust/core/src/seen/alias`): paths under which both hosts had the same
page, and paths under which they differed. Nothing is found by names or addresses alone; a shared
address only lowers the number of paths wanted. Two sites may share a corner (licences, a package's
manual), so the evidence must come from all over them, and start pages that differ refute it. Hosts of
seeds are not merged: who names two sites wants both. After a finding some URLs of the alias are visited
all the same; where they are other pages, the finding is undone and everything left out comes back.
`gossamer aliases` shows findings and undoes them.
"""

from gossamer.settings.model import AliasSettings

NEAR_BITS = 3
"""Pages under one path whose simhashes differ in at most so many of 64 bits are neither for nor against: two
visits of one page differ so much by a date, a counter or an advertisement. Manku, Jain and Das Sarma (2007) found 3 bits
for near-duplicates in 8 billion pages."""

FOLDERS = 3
DEPTHS = 2
"""Paths with the same page must lie in so many different first folders and so many folders deep, unless the start
pages are the same too: what two sites share without being one lies together."""

FIRST_SAMPLES = 4
"""The first URLs of a new alias that are visited all the same are taken four times as often as `alias.sample` says: a
wrong finding should not live long. By lot, not the first that come: those are neighbours of the evidence."""


def to_native(settings: AliasSettings) -> dict[str, object]:
    """The rest is the operator's choice (`alias.*`)."""
    return {
        "enabled": settings.enabled,
        "after": settings.after,
        "after_shared": settings.after_shared,
        "differences": settings.differences,
        "least_bytes": settings.least_bytes,
        "near_bits": NEAR_BITS,
        "folders": FOLDERS,
        "depths": DEPTHS,
        "first_samples": FIRST_SAMPLES,
        "sample_every": settings.sample,
    }
