"""Stage 7, store: what is kept of a visit, and how it is read back.

Takes: pages. Gives: stored pages. Writing is native (`rust/core/src/warc`); this package finds the
files of a crawl and reads them: WARC files, their CDXJ index, the fetch log.
"""

from gossamer.path.store.fetch_log import LogLine, read_log
from gossamer.path.store.files import log_files, warc_files
from gossamer.path.store.index import export_cdxj
from gossamer.path.store.pages import Page, read_page, read_pages

__all__ = [
    "LogLine",
    "Page",
    "export_cdxj",
    "log_files",
    "read_log",
    "read_page",
    "read_pages",
    "warc_files",
]
