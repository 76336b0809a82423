"""Stage 2, canonical: the only maker of URLs.

Takes a raw link (and the base it was found under), gives a URL in its one spelling, or a reason
why not. Next: seen. Guarantees: WHATWG parsing, idempotent, http and https only, bounded length.

The work is native (`rust/core/src/canonical`); links of pages never pass through here. This is for
seeds, settings and questions.
"""

from gossamer._native import (
    SESSION_PARAMS,
    TRACKING_PARAMS,
    UrlRefused,
    UrlRules,
    canonical_url,
    canonical_urls,
    fingerprint,
    host,
    host_key,
    literal_address,
    partition,
    registered_domain,
    url_key,
)

__all__ = [
    "SESSION_PARAMS",
    "TRACKING_PARAMS",
    "UrlRefused",
    "UrlRules",
    "canonical_url",
    "canonical_urls",
    "fingerprint",
    "host",
    "host_key",
    "literal_address",
    "partition",
    "registered_domain",
    "url_key",
]
