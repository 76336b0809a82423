"""The CDXJ index of a crawl, made from its WARC files alone."""

from pathlib import Path

from gossamer._native import write_cdxj
from gossamer.library.files import warc_files


def export_cdxj(out: Path, target: Path) -> int:
    """Writes the sorted index of the crawl in `out` to `target`; gives the number of lines.

    A record cut short at the end of an `.open` file is left out; damage elsewhere is an error.
    """
    return write_cdxj(warc_files(out), target)
