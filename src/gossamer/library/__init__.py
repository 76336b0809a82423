"""What a crawl takes from files and leaves in files, read in Python.

Takes: the directory of a crawl, or a file of seeds. Gives: the fetch log as typed lines, the stored
pages, their index, and the seeds. Writing is native (`rust/core/src/store/warc`).
"""

from gossamer.library.fetch_log import LogDamagedError, LogLine, LogReading, read_log
from gossamer.library.files import log_files, warc_files
from gossamer.library.index import export_cdxj
from gossamer.library.pages import Page, read_page, read_pages
from gossamer.library.seeds import Refused, Seed, SeedList, read_seeds

__all__ = [
    "LogDamagedError",
    "LogLine",
    "LogReading",
    "Page",
    "Refused",
    "Seed",
    "SeedList",
    "export_cdxj",
    "log_files",
    "read_log",
    "read_page",
    "read_pages",
    "read_seeds",
    "warc_files",
]
