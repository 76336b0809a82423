"""Export: what a crawl holds, in forms that other programs read.

Takes: a crawl's directory. Gives: rows of pages or of links, made from the fetch log and the WARC
files alone, one page in memory at a time. The CDXJ index is made by the store.
"""

from gossamer.export.rows import LinkRow, PageRow, link_rows, page_rows
from gossamer.export.table import write_parquet

__all__ = ["LinkRow", "PageRow", "link_rows", "page_rows", "write_parquet"]
