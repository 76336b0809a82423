"""A few URLs of each outcome that brought no page, so that somebody knows where to look.

The last ones by their last outcome. Bounded: `SHOWN` URLs for each outcome.
"""

from typing import Final

from gossamer.audit.missing import HAD
from gossamer.library import LogLine

SHOWN: Final = 3


class Examples:
    """Filled with all lines, in the order of writing."""

    def __init__(self) -> None:
        self._by_outcome: dict[str, list[str]] = {}
        self._at: dict[str, str] = {}
        """Where a URL is listed."""

    def add(self, line: LogLine, outcome: str) -> None:
        if not line.of_page:
            return
        if before := self._at.pop(line.url, None):
            self._by_outcome[before].remove(line.url)
        if outcome in HAD:
            return
        urls = self._by_outcome.setdefault(outcome, [])
        if len(urls) == SHOWN:
            del self._at[urls.pop(0)]
        urls.append(line.url)
        self._at[line.url] = outcome

    def of(self, outcome: str) -> list[str]:
        return list(self._by_outcome.get(outcome, []))
