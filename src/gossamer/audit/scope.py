"""Scope: no URL was visited that the settings keep out.

Seeds are the lines without a parent, and those that a redirect of a seed led to; they make the scope.
Robots files may stand anywhere, and sitemaps need not have the suffix or the form of a page.
"""

from gossamer._native import scope_verdicts
from gossamer.audit.lines import Visit
from gossamer.audit.records import is_robots
from gossamer.audit.report import Report

BATCH = 8192
FROM_BYTES = 2048
"""`from` in the log is cut to so many bytes."""

_ONLY_PAGES = ("scope.skip_suffixes", "scope.include", "limits.site_depth")


class ScopeCheck:
    """Judges URLs in batches; a seed stands in the log before what was found through it."""

    def __init__(self, native_settings: str, report: Report) -> None:
        self._settings = native_settings
        self._report = report
        self._seeds: dict[str, None] = {}
        self._sitemaps: set[str] = set()
        self._redirected: set[str] = set()
        self._batch: list[tuple[str, str, bool]] = []

    def add(self, visit: Visit) -> None:
        """A visit to anything but a robots file."""
        line = visit.line
        # A seed that set a cookie and redirected to itself is visited again, found through itself.
        from_url, url = line.from_url, line.url
        if from_url is None or from_url in self._redirected or url in self._seeds:
            self._seeds[url] = None
            if line.outcome == "redirected":
                # All that leads on from it is the target.
                self._redirected.add(url[:FROM_BYTES])
            return
        is_sitemap = is_robots(from_url) or from_url in self._sitemaps
        if is_sitemap:
            self._sitemaps.add(url[:FROM_BYTES])
        self._batch.append((url, visit.where, is_sitemap))
        if len(self._batch) >= BATCH:
            self.flush()

    def seed(self, url: str) -> None:
        """A seed that was not visited."""
        self._seeds[url] = None

    def flush(self) -> None:
        urls = [url for url, _, _ in self._batch]
        verdicts = scope_verdicts(self._settings, list(self._seeds), urls)
        for (url, where, is_sitemap), rule in zip(self._batch, verdicts, strict=True):
            if rule is None or (is_sitemap and rule.startswith(_ONLY_PAGES)):
                continue
            self._report.violation("out_of_scope", where, f"{url}: {rule}")
        self._batch.clear()
