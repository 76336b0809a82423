"""Audit: politeness and integrity of a crawl, proven from its files alone.

Takes: a crawl's directory (`crawl.toml`, `log/`, `warc/`). Gives: a report of what was checked, each
violation by name, and notes. Reads every file once, from its beginning to its end, and changes
nothing. What is checked and what cannot be: `docs/reference/audit.md`.
"""

from gossamer.audit.report import KINDS, Report, Violation
from gossamer.audit.run import Checkpoint, audit_crawl

__all__ = ["KINDS", "Checkpoint", "Report", "Violation", "audit_crawl"]
