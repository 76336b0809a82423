"""Settings: typed, with units, refused when unknown.

Where a setting is checked, in order: `load.check` (name, type, unit, range), `table.changed` (whether it may
change while a crawl runs), `policy.chosen` (`choose`: tables of policies; `check_change`: changes without effect), and
the native node when it is opened or told new settings (what only it can know, such as regular expressions). Before
a crawl is begun, `node.start_check` asks for all of them, so that a refusal leaves nothing behind.
"""

from gossamer.settings.load import check, dump, load, load_saved
from gossamer.settings.model import CrawlSettings

__all__ = ["CrawlSettings", "check", "dump", "load", "load_saved"]
