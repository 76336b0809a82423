"""What a crawl does not have: URLs that were never fetched, by the last outcome, and links not followed.

Kept in memory: nine bytes per line without a page, eight per line with one.
"""

from array import array
from collections import Counter

import numpy as np

from gossamer.audit.integrity import number
from gossamer.audit.report import Report
from gossamer.library import LogLine
from gossamer.policy.hosts.outcomes import FORMER, REACTIONS

HAD = frozenset({"fetched", "truncated", "duplicate", "redirected", "not_modified"})
"""Outcomes of URLs that nothing is missing of."""

_NUMBERS = {outcome: place for place, outcome in enumerate([*REACTIONS, *FORMER])}


class Missing:
    """Filled with all lines."""

    def __init__(self) -> None:
        self._had = array("Q")
        self._missing = array("Q")
        self._outcomes = bytearray()
        self._links: Counter[str] = Counter()

    def add(self, line: LogLine) -> None:
        self._links.update(line.left_out)
        if not line.of_page:
            # Nobody misses a robots file, a sitemap, or a name that cannot exist.
            return
        if line.outcome in HAD:
            self._had.append(number(line.url))
        else:
            self._missing.append(number(line.url))
            self._outcomes.append(_NUMBERS[line.outcome])

    def report(self, report: Report) -> None:
        report.links_left_out = dict(self._links.most_common())
        report.not_fetched = self.not_fetched()

    def not_fetched(self) -> dict[str, int]:
        """URLs that were never fetched, by their last outcome, the most frequent first."""
        if not self._missing:
            return {}
        # Of each URL its last line counts: what failed at first may have been fetched later.
        backwards = np.frombuffer(self._missing, dtype=np.uint64)[::-1]
        urls, last = np.unique(backwards, return_index=True)
        had = np.frombuffer(self._had, dtype=np.uint64) if self._had else np.array([], np.uint64)
        outcomes = np.frombuffer(self._outcomes, dtype=np.uint8)[::-1][last]
        counts = np.bincount(outcomes[~np.isin(urls, had)], minlength=len(_NUMBERS))
        found = Counter(dict(zip(_NUMBERS, counts.tolist(), strict=True)))
        return {name: many for name, many in found.most_common() if many}
