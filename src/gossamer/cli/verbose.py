"""What `--verbose` tells at the start: the seeds and the settings that count."""

from collections.abc import Sequence

from gossamer.logging import logger
from gossamer.settings import CrawlSettings
from gossamer.settings.table import shown

SHOWN_SEEDS = 100
_log = logger("start")


def log_what_counts(settings: CrawlSettings, seeds: Sequence[str]) -> None:
    """Each setting that is not as it is by default, without passwords, and the first seeds."""
    usual = shown(CrawlSettings())
    for name, value in shown(settings).items():
        if value != usual[name]:
            _log.debug("setting", name=name, value=value, default=usual[name])
    for url in seeds[:SHOWN_SEEDS]:
        _log.debug("seed", url=url)
    if len(seeds) > SHOWN_SEEDS:
        _log.debug("more seeds", number=len(seeds) - SHOWN_SEEDS)
