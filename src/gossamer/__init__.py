"""Gossamer, a distributed web crawler.

Follow a URL through the folders of `gossamer.path`: seed, canonical, seen, frontier, fetch, parse,
store, links, exchange.
"""

__version__ = "0.1.0"
