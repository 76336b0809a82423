"""The settings of a crawl as all its nodes share them, and how a machine reaches the engine."""

from pathlib import Path

import msgspec

from gossamer.engine import Access
from gossamer.settings import CrawlSettings
from gossamer.settings.load import check

OWN = {"engine", "credentials", "token", "tls_ca", "tls_cert", "tls_key"}
"""Settings of the cluster that belong to a machine, and may be secret: never in the engine."""


def read_settings(text: str) -> CrawlSettings:
    return check(msgspec.json.decode(text), "the crawl's settings")


def write_settings(settings: CrawlSettings) -> str:
    """For the engine: without what belongs to this machine."""
    values = settings.model_dump(mode="json", exclude_none=True)
    for name in OWN:
        values["cluster"].pop(name, None)
    return msgspec.json.encode(values).decode()


def with_own(shared: CrawlSettings, own: CrawlSettings) -> CrawlSettings:
    """The crawl's settings, with what belongs to this machine."""
    kept = {name: getattr(own.cluster, name) for name in OWN}
    cluster = shared.cluster.model_copy(update=kept)
    return shared.model_copy(update={"cluster": cluster, "control": own.control})


def engine_access(settings: CrawlSettings) -> Access:
    """How this machine reaches the engine."""
    cluster = settings.cluster

    def path(text: str | None) -> Path | None:
        return Path(text) if text else None

    return Access(
        cluster.engine,
        path(cluster.credentials),
        path(cluster.tls_ca),
        path(cluster.tls_cert),
        path(cluster.tls_key),
        path(cluster.token),
    )
