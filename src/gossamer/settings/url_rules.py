"""The rules by which URLs are made, from the settings: the one place where the two are joined."""

from gossamer._native import UrlRules
from gossamer.settings.model import CrawlSettings

_GROUPINGS = {"host": "host", "site": "first_label"}
"""What is kept together, as the setting and as the native part name it."""


def url_rules(settings: CrawlSettings) -> UrlRules:
    canonical = settings.canonical
    return UrlRules(
        canonical.strip_parameters,
        canonical.strip_sessions,
        canonical.max_length,
        _GROUPINGS[settings.grouping],
        canonical.session_token,
    )
