"""Policies that raise, hang or answer nonsense: `how = "raise"`, `"hang"` or `"nonsense"`."""

import threading
from collections.abc import Mapping
from typing import Any

from gossamer import Batch, NextVisits, PageDecisions, Scores


class Misbehaving:
    columns = ("host",)

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._how = settings.get("how", "nonsense")

    def misbehave(self, nonsense: Any) -> Any:
        if self._how == "raise":
            raise RuntimeError("raised on purpose")
        if self._how == "hang":
            threading.Event().wait()
        return nonsense


class BadPages(Misbehaving):
    name = "bad-pages"

    def process(self, batch: Batch) -> Any:
        return self.misbehave(PageDecisions(keep=[False] * (len(batch) + 1)))


class BadOrder(Misbehaving):
    name = "bad-order"

    def score(self, batch: Batch) -> Any:
        return self.misbehave(Scores([float("nan")] * len(batch)))


class BadRefresh(Misbehaving):
    name = "bad-refresh"

    def next_visits(self, batch: Batch) -> Any:
        return self.misbehave(NextVisits([-1] * len(batch)))


class BadHosts(Misbehaving):
    name = "bad-hosts"

    def judge(self, batch: Batch) -> Any:
        return self.misbehave([len(batch)])
