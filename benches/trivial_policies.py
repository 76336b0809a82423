"""A policy for each door that asks for a few facts and changes nothing: what a door itself costs."""

from collections.abc import Mapping
from typing import Any

from gossamer.policy import Batch, HostDecisions, NextVisits, PageDecisions, Scores


class _Policy:
    def __init__(self, settings: Mapping[str, Any]) -> None:
        self.settings = settings


class Pages(_Policy):
    name = "trivial-pages"
    columns = ("url", "status", "depth")

    def process(self, batch: Batch) -> PageDecisions:
        return PageDecisions(keep=[True] * len(batch.column("url")))


class Bodies(_Policy):
    """Touches the body of every page."""

    name = "trivial-bodies"
    columns = ("url", "body")

    def process(self, batch: Batch) -> PageDecisions:
        return PageDecisions(keep=[len(body or b"") >= 0 for body in batch.column("body")])


class Order(_Policy):
    name = "trivial-order"
    columns = ("url", "native_score")

    def score(self, batch: Batch) -> Scores:
        return Scores(batch.column("native_score"))


class Refresh(_Policy):
    name = "trivial-refresh"
    columns = ("url", "visits")

    def next_visits(self, batch: Batch) -> NextVisits:
        return NextVisits([0] * len(batch.column("url")))


class Hosts(_Policy):
    name = "trivial-hosts"
    columns = ("host", "fetched")

    def judge(self, batch: Batch) -> HostDecisions:
        return HostDecisions(weight=[1.0] * len(batch.column("host")))


ENTRY_POINTS = """\
[gossamer.pages]
trivial-pages = benches.trivial_policies:Pages
trivial-bodies = benches.trivial_policies:Bodies

[gossamer.order]
trivial-order = benches.trivial_policies:Order

[gossamer.refresh]
trivial-refresh = benches.trivial_policies:Refresh

[gossamer.hosts]
trivial-hosts = benches.trivial_policies:Hosts
"""
"""As a package that names these classes would be installed."""
