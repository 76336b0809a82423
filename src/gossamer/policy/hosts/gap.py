"""The gap between two visits to a host, where nobody has set it.

It is the largest of the setting (`politeness.delay`, a rule, an override), the site's Crawl-delay and the rest that
the response time asks for; computed in `rust/core/src/frontier/gap.rs`.

With several connections (`politeness.per_host`) each rests for itself, so the gap of the host is the rest divided by
their number. `--per-host 8 --delay 0s` says that a site bears eight connections that never rest; then eight work side by
side, and the response time asks for nothing. A site that names a Crawl-delay is visited by one connection, whatever
the setting: its delay lies between the end of a visit and the start of the next, which `gossamer audit` proves.
"""

RESPONSE_FACTOR = 1.0
"""A connection rests so many times the last response time: with 1, a site that answers slowly, because it is busy
or small, works for us half of the time at most."""
