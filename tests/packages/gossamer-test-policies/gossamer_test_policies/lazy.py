"""Hosts: one is visited slowly, one is given up."""

from collections.abc import Mapping
from typing import Any

from gossamer import Batch, HostDecisions


class Lazy:
    """`slow` and `leave`: names of hosts. `delay`: seconds between visits to the slow one."""

    name = "lazy"
    columns = ("host", "fetched", "queued")

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._slow = settings.get("slow")
        self._leave = settings.get("leave")
        self._delay = float(settings.get("delay", 1.0))

    def judge(self, batch: Batch) -> HostDecisions:
        hosts = batch.column("host")
        return HostDecisions(
            delay=[self._delay if host == self._slow else None for host in hosts],
            give_up=[True if host == self._leave else None for host in hosts],
            reason=[
                {self._slow: "slow by choice", self._leave: "left by choice"}.get(host)
                for host in hosts
            ],
        )
