"""The service of a crawl that does not run: the same API and dashboard over its directory, read-only.

`ArchiveService` composes it of parts, each with one question: `standing` (status, nodes), `past` (counters over time),
`hosts` and `urls` (from the state, or from the log where there is none), `records` (events, settings, seeds). What
would change something is refused with the command that goes on with the crawl.
"""

from gossamer.control.archive.crawl import ArchivedCrawl
from gossamer.control.archive.service import ArchiveService
from gossamer.control.archive.standing import archived_status

__all__ = ["ArchiveService", "ArchivedCrawl", "archived_status"]
