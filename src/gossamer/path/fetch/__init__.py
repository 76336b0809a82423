"""Fetch, the fifth stage: a visit in, a response or an outcome out.

The work is done in `rust/core/src/fetch`; here are the settings it takes. It always answers, within
a deadline and a size, whatever the server does. What it promises is in `docs/path/5-fetch.md`.
"""

from gossamer.path.fetch.settings import (
    DnsSettings,
    FetchLimits,
    FetchSettings,
    TlsSettings,
)

__all__ = ["DnsSettings", "FetchLimits", "FetchSettings", "TlsSettings"]
