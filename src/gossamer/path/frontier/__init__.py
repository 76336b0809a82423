"""Frontier: whose turn is it, and when.

Takes fresh URLs and reports of visits; gives visits (leases) and refusals. The work is native
(`rust/core/src/frontier`); `docs/path/4-frontier.md` tells a host's life.
"""
