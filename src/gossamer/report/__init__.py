"""The report of a crawl: what it did, from its files, running or not, also of a copy without `state/`.

Takes the directory of a crawl and, where they can be had, the counters of its state. The fetch log is read
once, in the order of its files, and nothing is kept of a line but counts (`visits.py`), counts by host in a table
that keeps the largest (`hosts.py`) and counts by time in a bounded number of steps (`timeline.py`). Types and
languages are not in the log: they come from the WARC files, from their beginnings unless all is asked for
(`content.py`). `model.py` is what all of that comes to; `text.py` and `html.py` show it.
"""

from gossamer.report.build import Known, build
from gossamer.report.html import as_html
from gossamer.report.model import Report
from gossamer.report.text import show
from gossamer.report.visits import Visits, read_visits

__all__ = ["Known", "Report", "Visits", "as_html", "build", "read_visits", "show"]
