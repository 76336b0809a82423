"""Soft 404s: pages that say "not found" under status 200, or by a redirect to one place.

A host that has had some pages, and among them some that brought no new text or were redirected, is asked once for a name
that cannot exist: random letters in its first folder, within robots rules and politeness like any visit. If it says
404 or 410 there is nothing to do. If it has a page for it, pages with that text are soft 404s; if it redirects,
redirects to the same place are. They stay fetched, and are marked in the log, in exports and by `gossamer why`;
for their URL pattern they are worth nothing. A start page, a seed and a page with other text are never soft 404s.

`fetch.soft_404_probe` turns asking off. The rest is done natively (`rust/core/src/links/soft404.rs`,
`rust/core/src/node/soft404.rs`).
"""

from gossamer.settings.model import FetchSettings

PAGES = 20
"""Visits of a host before it is asked: a small site is not burdened."""

SUSPECTS = 3
"""Of these, visits that may have been soft 404s: redirects, and pages with hardly any new text (less than half of
`policy.patterns.novel`). Two pages that say the same are the least that soft 404s have in common; most hosts have none
and are never asked."""

SAME = 0.8
"""A page is a soft 404 if it shares this part of its text with the page of the missing name, both ways. The name itself and the
title may differ, and in a message of one sentence that is one word in five."""

OTHER_SAMPLES = 4
"""And if at most so many samples of its text are not in that page: one in eight runs of three words is a sample, so that is
a few names or a date. A page with a large frame and a paragraph of its own has more."""


def to_native(fetch: FetchSettings) -> dict[str, object]:
    return {
        "probe": fetch.soft_404_probe,
        "pages": PAGES,
        "suspects": SUSPECTS,
        "same": SAME,
        "other_samples": OTHER_SAMPLES,
    }
