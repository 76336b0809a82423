"""Settings: typed, with units, refused when unknown."""

from gossamer.settings.load import check, dump, load
from gossamer.settings.model import CrawlSettings

__all__ = ["CrawlSettings", "check", "dump", "load"]
