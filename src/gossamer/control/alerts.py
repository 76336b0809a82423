"""Alerts: what is stuck, and why. Judged from counters once a second; told when they begin and end."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import Final, NamedTuple

from pydantic import JsonValue

from gossamer.control.event_log import EventLog
from gossamer.control.readings import Readings
from gossamer.control.schemas import Alert, Event, EventKind, NodeView, Severity, Status
from gossamer.control.schemas.nodes import NodeState
from gossamer.control.schemas.status import DoorView
from gossamer.model.progress import Activity
from gossamer.model.waits import in_words
from gossamer.policy.hosts.outcomes import REACTIONS, Group, group

LOW_DISK: Final = 2 * 1024**3
STUCK_AFTER: Final = 60.0
SILENT_AFTER: Final = 5.0
OUTAGE_AFTER: Final = 30.0
UNREACHABLE: Final = frozenset({"dns_not_found", "dns_failed", "connect_failed", "tls_failed"})
ERROR_SHARE: Final = 0.5
ERROR_LEAST: Final = 50
NAMED: Final = 3


class Trouble(StrEnum):
    """What can be wrong with a cluster as a whole."""

    ENGINE_AWAY = "engine_away"
    STREAM_FULL = "stream_full"
    OWNERLESS = "ownerless"
    NODE_REFUSED = "node_refused"


class _Finding(NamedTuple):
    kind: str
    severity: Severity
    text: str
    hint: str
    node: str | None = None
    hosts: Mapping[str, str] = MappingProxyType({})


class Alerts:
    """The alerts that stand, with since when."""

    def __init__(self, event_log: EventLog) -> None:
        self._event_log = event_log
        self._standing: dict[tuple[str, str | None], Alert] = {}
        self._told: dict[tuple[str, str | None], str] = {}
        self._failing_since: float | None = None
        # By node and door: failures of its policies, and when they grew last.
        self._failures: dict[tuple[str | None, str], tuple[int, float]] = {}

    def standing(self) -> list[Alert]:
        return sorted(self._standing.values(), key=lambda alert: alert.since)

    def learn(self, event: Event) -> None:
        """Told by whoever led then: who leads next does not tell it again, and tells its end."""
        key = (str(event.data.get("kind")), event.node)
        if event.kind is EventKind.ALERT:
            self._told[key] = event.text
        elif event.kind is EventKind.ALERT_ENDED:
            self._told.pop(key, None)

    def judge(
        self,
        status: Status,
        nodes: list[NodeView],
        readings: Readings,
        *,
        troubles: Sequence[Trouble] = (),
        missed: Sequence[str] = (),
        doors: Mapping[str, Mapping[str, DoorView]] | None = None,
        tell: bool = True,
    ) -> None:
        """Finds what stands now; with `tell` also tells what has begun and ended since.

        `troubles`: of the cluster as a whole, found by whoever knows it. `missed`: control nodes
        that are lost, none waiting in reserve. `doors`: by node; None: the crawl is this process, and
        its counters began with it.
        """
        by_node: list[tuple[str | None, Mapping[str, DoorView]]]
        by_node = [(None, status.doors)] if doors is None else [*doors.items()]
        found = {
            (finding.kind, finding.node): finding
            for finding in [
                *_disk(status),
                *(_progress(status, readings) or _waits(status)),
                *_hosts(status, readings),
                *self._outage(status),
                *(found for node, views in by_node for found in self._doors(status, node, views)),
                *(_TROUBLES[trouble] for trouble in troubles),
                # Without the engine nobody is heard: that says nothing about the nodes.
                *(
                    []
                    if Trouble.ENGINE_AWAY in troubles
                    else [*_nodes(status, nodes), *_reserve(missed)]
                ),
            ]
        }
        self._standing = {
            key: Alert(
                kind=finding.kind, severity=finding.severity, text=finding.text,
                hint=finding.hint, node=finding.node, hosts=dict(finding.hosts),
                since=self._standing[key].since if key in self._standing else status.time,
            )
            for key, finding in found.items()
        }  # fmt: skip
        if tell:
            self._tell()

    def _outage(self, status: Status) -> list[_Finding]:
        """Most hosts that have URLs cannot be reached, and could not for a while."""
        failing = failing_hosts(status)
        hosts = sum(failing.values())
        all_hosts = status.hosts_active + status.hosts_waiting + status.hosts_set_aside
        if not hosts or 2 * hosts < all_hosts or status.wanted != "run":
            self._failing_since = None
            return []
        if self._failing_since is None:
            self._failing_since = status.time
        if status.time - self._failing_since < OUTAGE_AFTER:
            return []
        worst = max(failing, key=lambda name: failing[name])
        return [
            _Finding(
                "outage", Severity.WARNING,
                f"{hosts} of the {max(hosts, all_hosts)} hosts with URLs to visit cannot be reached, most often {worst}",
                REACTIONS[worst].remedy or "see the network and the name servers",
                hosts={"failure": worst, "sort": "errors"},
            )
        ]  # fmt: skip

    def _doors(
        self, status: Status, node: str | None, doors: Mapping[str, DoorView]
    ) -> list[_Finding]:
        """Policies that failed within the last minute, or whose door rests."""
        found = []
        for door, view in doors.items():
            # A node's counters began before we heard of it: what they say first may be hours old.
            first = 0 if node is None else view.failures
            known, since = self._failures.get((node, door), (first, float("-inf")))
            if view.failures < known:
                # It was started again since: all of its failures are new.
                known = 0
            if view.failures > known:
                since = status.time
            self._failures[node, door] = (view.failures, since)
            if status.time - since < STUCK_AFTER or view.resting is not None:
                where = "" if node is None else f" on node {node}"
                found.append(
                    _Finding(
                        f"policy_{door}", Severity.WARNING,
                        f"the policy of {door} fails{where}: {view.last_failure}",
                        "see the log of the node; the crawl goes on as without the policy", node,
                    )
                )  # fmt: skip
        return found

    def _tell(self) -> None:
        for key in [key for key in self._told if key not in self._standing]:
            kind, node = key
            words = f"over: {self._told.pop(key)}"
            self._event_log.tell(EventKind.ALERT_ENDED, words, node=node, data={"kind": kind})
        for key, alert in self._standing.items():
            if key not in self._told and alert.severity is not Severity.NOTICE:
                self._told[key] = alert.text
                data: dict[str, JsonValue] = {"kind": alert.kind, "hosts": {**alert.hosts}}
                self._event_log.tell(EventKind.ALERT, alert.text, node=alert.node, data=data)


def failing_hosts(status: Status) -> dict[str, int]:
    """Hosts that wait because they cannot be reached, by outcome.

    A host that fails on a page (a 500, a timeout) may answer well on all others: it is none of them.
    """
    return {
        reason: wait.hosts
        for reason, wait in status.waits.items()
        if wait.hosts and reason in UNREACHABLE
    }


def _disk(status: Status) -> list[_Finding]:
    if status.activity is Activity.DISK_FULL:
        return [
            _Finding(
                "disk_full", Severity.CRITICAL, "no room left on the disk: visits wait",
                "make room; the crawl goes on by itself, and nothing is lost",
            )
        ]  # fmt: skip
    if status.disk_free is not None and status.disk_free < LOW_DISK:
        left = status.disk_free // 2**20
        return [
            _Finding(
                "disk_low", Severity.WARNING, f"{left} MiB left on the disk",
                "make room, or the crawl will wait when the disk is full",
            )
        ]  # fmt: skip
    return []


def _progress(status: Status, readings: Readings) -> list[_Finding]:
    if status.wanted != "run" or status.activity is not Activity.RUNNING:
        return []
    visits = readings.growth("visits", STUCK_AFTER, status.time, status.visits)
    if visits is None or visits > 0 or status.urls_queued == 0:
        return []
    if status.next_due is not None and status.next_due > status.time:
        wait = status.next_due - status.time
        reasons = "".join(f"; {text}" for text in in_words(status.waits, status.time))
        why = f"every host waits; the next visit is due in {wait:.0f} s{reasons}"
        hint = "see hosts by next visit: long gaps, Retry-After or hosts set aside"
    elif status.in_flight:
        why = f"{status.in_flight} visits are under way and none has ended"
        hint = "see the network and the name servers; timeouts end them at last"
    elif status.waits:
        # In a cluster, where other nodes have nothing to do and so no next visit.
        why = "; ".join(in_words(status.waits, status.time))
        hint = "see hosts by next visit"
    else:
        why = "nothing is under way"
        hint = "see blocked hosts and the events"
    return [
        _Finding(
            "no_progress", Severity.WARNING, f"no visit ended for a minute: {why}", hint,
            hosts={"sort": "next_visit"},
        )
    ]  # fmt: skip


def _waits(status: Status) -> list[_Finding]:
    """Nothing is going on, and every host that has URLs waits after a failure or because it asked for it."""
    if status.wanted != "run" or status.activity is not Activity.RUNNING:
        return []
    waiting = sum(wait.hosts for wait in status.waits.values())
    others = status.hosts_waiting + status.hosts_set_aside - waiting
    if not waiting or others > 0 or status.hosts_active or status.in_flight:
        return []
    return [
        _Finding(
            "hosts_wait", Severity.NOTICE, "; ".join(in_words(status.waits, status.time)),
            "`gossamer why` tells more of a URL and its host, and `gossamer retry HOST` tries it now; a host that stays away ends by itself",
            hosts={"sort": "next_visit"},
        )
    ]  # fmt: skip


def _hosts(status: Status, readings: Readings) -> list[_Finding]:
    found = []
    if status.hosts_set_aside:
        # How many for which cause is not counted; without a policy at the door it is none's.
        policy = ", or by the policy of hosts" if "hosts" in status.doors else ""
        found.append(
            _Finding(
                "hosts_set_aside", Severity.NOTICE,
                f"{status.hosts_set_aside} hosts are set aside after failures in a row{policy}",
                "they are tried again later; `retry` tries one now, `gossamer why` tells the cause",
                hosts={"standing": "set_aside"},
            )
        )  # fmt: skip
    if defects := status.outcomes.get("internal_error", 0):
        found.append(
            _Finding(
                "internal_error", Severity.WARNING,
                f"the crawler's own code failed on {defects} visits: a defect",
                "the fetch log names the URLs, standard error the place in the code; please report it",
            )
        )  # fmt: skip
    before = readings.outcomes_before(STUCK_AFTER, status.time)
    grown = {name: count - before.get(name, 0) for name, count in status.outcomes.items()}
    total = sum(grown.values())
    failed = {
        name: count for name, count in grown.items() if count > 0 and group(name) is Group.FAILED
    }
    if before and total >= ERROR_LEAST and sum(failed.values()) > ERROR_SHARE * total:
        worst = max(failed, key=lambda name: failed[name])
        share = 100 * sum(failed.values()) // total
        found.append(
            _Finding(
                "many_failures", Severity.WARNING,
                f"{share} % of the visits of the last minute failed, most often {worst}",
                "see the network, the name servers, and the hosts that fail so",
                hosts={"failure": worst, "sort": "errors"},
            )
        )  # fmt: skip
    return found


_TROUBLES: Final = {
    Trouble.ENGINE_AWAY: _Finding(
        "engine_away", Severity.CRITICAL, "the engine does not answer",
        "see the NATS servers; nodes go on until their leases end, and then wait for it",
    ),
    Trouble.STREAM_FULL: _Finding(
        "stream_full", Severity.WARNING, "the stream of links is nearly full",
        "snapshots empty it; if this comes again raise cluster.links_bytes",
    ),
    Trouble.OWNERLESS: _Finding(
        "ownerless", Severity.WARNING, "partitions have no owner: their hosts are not visited",
        "see the nodes; a lost one's partitions go to others when its lease has ended",
    ),
    Trouble.NODE_REFUSED: _Finding(
        "node_refused", Severity.WARNING, "a node of another version was turned away",
        "see `gossamer nodes list`; give all nodes the same version",
    ),
}  # fmt: skip


def _nodes(status: Status, nodes: list[NodeView]) -> list[_Finding]:
    found = []
    for node in nodes:
        silent = 0.0 if node.last_heartbeat is None else status.time - node.last_heartbeat
        if node.state is NodeState.LOST:
            found.append(
                _Finding(
                    "node_lost", Severity.CRITICAL, f"node {node.id} is lost",
                    "its partitions are others' now; it joins again by itself when it is started, "
                    "and `remove` forgets it", node.id,
                )
            )  # fmt: skip
        working = node.state not in {NodeState.LEAVING, NodeState.FINISHED, NodeState.LOST}
        if working and silent > SILENT_AFTER:
            found.append(
                _Finding(
                    "node_silent", Severity.CRITICAL,
                    f"node {node.id} was not heard of for {silent:.0f} s",
                    "see its machine and its log", node.id,
                )
            )  # fmt: skip
    return found


def _reserve(missed: Sequence[str]) -> list[_Finding]:
    if not missed:
        return []
    names = ", ".join(missed[:NAMED]) + ("…" if len(missed) > NAMED else "")
    which = f"control node {names} is" if len(missed) == 1 else f"control nodes {names} are"
    return [
        _Finding(
            "no_reserve", Severity.WARNING, f"{which} gone, and none waits in reserve",
            "see its machine and its log; start it or another one, or nobody takes over when "
            "the one that leads is lost",
        )
    ]  # fmt: skip
