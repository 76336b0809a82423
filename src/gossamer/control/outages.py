"""Outages as events: hosts that cannot be reached for a while, by reason, and when the last of them is over.

One event when it begins, one whenever the number of hosts has doubled since, one when it ends: so that
a log of a long crawl can be read.
"""

from typing import Final, NamedTuple

from pydantic import JsonValue

from gossamer.control.alerts import OUTAGE_AFTER, failing_hosts
from gossamer.control.event_log import EventLog
from gossamer.control.schemas import Event, EventKind, Status

GROWN: Final = 2


class _Failing(NamedTuple):
    since: float
    told: int
    """Hosts when it was told last; 0: not yet."""


class Outages:
    """Judged from the status once a second."""

    def __init__(self, event_log: EventLog) -> None:
        self._event_log = event_log
        self._failing: dict[str, _Failing] = {}

    def learn(self, event: Event) -> None:
        """Told by whoever led then."""
        outcome, hosts = event.data.get("outcome"), event.data.get("hosts")
        if event.kind is EventKind.OUTAGE and isinstance(outcome, str) and isinstance(hosts, int):
            known = self._failing.get(outcome)
            self._failing[outcome] = _Failing(known.since if known else event.time, hosts)
        elif event.kind is EventKind.OUTAGE_ENDED:
            self._failing.pop(str(outcome), None)

    def judge(self, status: Status, *, tell: bool = True) -> None:
        """With `tell`, what has begun and ended since becomes events."""
        now = failing_hosts(status)
        for outcome, hosts in now.items():
            known = self._failing.setdefault(outcome, _Failing(status.time, 0))
            lasts = status.time - known.since >= OUTAGE_AFTER
            if tell and lasts and hosts >= max(1, GROWN * known.told):
                self._tell_begun(outcome, hosts, status)
                self._failing[outcome] = _Failing(known.since, hosts)
        for outcome in [name for name in self._failing if name not in now]:
            if self._failing[outcome].told and tell:
                words = (
                    f"no host waits after {outcome} any more: each answers again, or was given up"
                )
                self._event_log.tell(EventKind.OUTAGE_ENDED, words, data={"outcome": outcome})
            if tell or not self._failing[outcome].told:
                del self._failing[outcome]

    def _tell_begun(self, outcome: str, hosts: int, status: Status) -> None:
        host = status.waits[outcome].host
        words = (
            f"{outcome}: {host} fails"
            if hosts == 1
            else f"{outcome}: {hosts} hosts fail, {host} among them"
        )
        data: dict[str, JsonValue] = {"outcome": outcome, "hosts": hosts}
        self._event_log.tell(EventKind.OUTAGE, words, host=host, data=data)
