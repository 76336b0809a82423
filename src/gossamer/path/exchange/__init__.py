"""Stage 9, exchange: a URL to the owner of its host.

Takes: outlinks. Gives: each URL to `seen` of the partition that owns its host. Guarantees: at least
once, never lost once acknowledged. In a standalone crawl one process owns all partitions, and the
native node (`rust/core/src/node/gather.rs`) hands outlinks to `seen` in the batch of their page.
"""
