"""The crawl as a whole: sums over the nodes."""

import contextlib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from gossamer.counts import APART
from gossamer.model.progress import Activity, DoorReport, HostLine, Inner, Progress
from gossamer.model.waits import added


class NodeLine(msgspec.Struct, kw_only=True):
    """A node, for a table."""

    node: str
    state: str
    partitions: int
    pages: int = 0
    urls_queued: int = 0
    in_flight: int = 0
    outbox: int = 0
    host: str = ""
    pid: int = 0
    lease_left: float = 0.0
    heard: float | None = None
    notes: list[str] = []


class ControlLine(msgspec.Struct, kw_only=True):
    """A control node, for a table."""

    control: str
    state: str
    """leads, waits, lost"""
    url: str = ""
    since: float | None = None
    time: float
    """Its last sign of life, by its own clock."""
    program: str = ""


class Summary(msgspec.Struct, kw_only=True):
    """What the leading control node publishes twice a second."""

    crawl: str
    state: str
    """waiting, running, paused, finished, stopping"""
    wanted: str
    time: float
    leader: str
    epoch: int
    partitions: int
    moving: int
    ownerless: int
    progress: Progress
    nodes: list[NodeLine]
    controls: list[ControlLine] = []
    stream_messages: int = 0
    stream_bytes: int = 0
    seeds: int = 0
    events: list[str] = []
    error: str = ""


NOTHING = Progress(
    activity=Activity.RUNNING,
    pages=0,
    bytes=0,
    urls_seen=0,
    urls_queued=0,
    visits=0,
    in_flight=0,
    hosts_known=0,
    hosts_active=0,
    hosts_waiting=0,
    hosts_set_aside=0,
    outcomes={},
    rss=0,
    disk=0,
    seconds=0.0,
)

_DONE = ("pages", "pages_dropped", "soft_404s", "script_pages", "seeds_failed", "bytes", "visits", "messages_sent", "messages_received", "links_sent",
         "links_bytes", "links_asked", "links_known", "links_discarded", "messages_damaged")  # fmt: skip
"""Done is done, also by a node that is gone since."""

_COUNTS = ("outcomes", *APART, "links_left_out", "robots_said")

SHOWN_HOSTS = 8
SHOWN_SEEDS = 10

_NOW = (
    "urls_seen", "urls_queued", "in_flight", "hosts_known", "hosts_active", "hosts_waiting",
    "hosts_set_aside", "hosts_blocked", "hosts_aliases", "urls_set_aside", "rss", "disk", "outbox",
    "reranking", "reranked",
)  # fmt: skip


def total(readings: Iterable[tuple[Progress, bool]], activity: Activity) -> Progress:
    """Sums over the nodes; of those that are gone only what they have done."""
    readings = list(readings)
    every = [progress for progress, _now in readings]
    present = [progress for progress, now in readings if now]
    counts = {name: _added(every, name) for name in _COUNTS}
    sums = {name: sum(getattr(part, name) for part in every) for name in _DONE}
    sums |= {name: sum(getattr(part, name) for part in present) for name in _NOW}
    due = [part.next_due for part in present if part.next_due is not None]
    return msgspec.structs.replace(
        NOTHING,
        **sums,
        doors=_doors(present),
        waits=added(part.waits for part in present),
        slowest=_first(present, "slowest", "left"),
        busiest=_first(present, "busiest", "pages"),
        seed_failures=[one for part in every for one in part.seed_failures][:SHOWN_SEEDS],
        inner=Inner.total(part.inner for part in present),
        **counts,
        activity=activity,
        seconds=max((part.seconds for part in every), default=0.0),
        longest_batch=max((part.longest_batch for part in every), default=0.0),
        next_due=min(due) if due and len(due) == len(present) else None,
        note="; ".join(sorted({part.note for part in present if part.note})),
    )


def at_the_end(last: Progress, states: list[Progress], *, every: bool) -> Progress:
    """The counters of a cluster that does not run.

    `last`: what its control node read last, of lost nodes too. `states`: of the nodes whose state is here, as it is
    now: `gossamer patterns` may have changed it since. `every`: they are all that own something.
    """
    now = total([(one, True) for one in states], last.activity)
    # Done is done: of nodes that are here the state may know more, of those that are lost only the last reading does.
    done: dict[str, Any] = {name: max(getattr(last, name), getattr(now, name)) for name in _DONE}
    done |= {name: _higher(getattr(last, name), getattr(now, name)) for name in _COUNTS}
    done["seconds"] = max(last.seconds, now.seconds)
    done["longest_batch"] = max(last.longest_batch, now.longest_batch)
    if every:
        done |= {name: getattr(now, name) for name in (*_NOW, "waits", "slowest", "busiest")}
    return msgspec.structs.replace(last, **done)


def _higher(one: dict[str, int], other: dict[str, int]) -> dict[str, int]:
    """Of each count the higher one."""
    return dict(Counter(one) | Counter(other))


def _first(present: Iterable[Progress], name: str, by: str) -> list[HostLine]:
    """Those that stand out among the hosts of all nodes."""
    hosts: list[HostLine] = [host for part in present for host in getattr(part, name)]
    return sorted(hosts, key=lambda host: (-getattr(host, by), host.host))[:SHOWN_HOSTS]


def _added(every: Iterable[Progress], name: str) -> dict[str, int]:
    """Counts by name, of all nodes."""
    counts: Counter[str] = Counter()
    for part in every:
        counts.update(getattr(part, name))
    return dict(counts)


def _doors(present: Iterable[Progress]) -> dict[str, DoorReport]:
    """Counts are added; a door rests as long as the one that rests longest."""
    found: dict[str, DoorReport] = {}
    for progress in present:
        for door, one in progress.doors.items():
            other = found.get(door, DoorReport())
            rests = [rest for rest in (one.resting, other.resting) if rest is not None]
            found[door] = DoorReport(
                batches=one.batches + other.batches,
                rows=one.rows + other.rows,
                failures=one.failures + other.failures,
                late=one.late + other.late,
                failed=one.failed + other.failed,
                nonsense=one.nonsense + other.nonsense,
                defaults=one.defaults + other.defaults,
                resting=max(rests, default=None),
                last_failure=one.last_failure or other.last_failure,
            )
    return found


def last_summary(out: Path) -> Progress | None:
    """What a cluster's control node read last; it counts nodes that were lost too."""
    with contextlib.suppress(OSError, msgspec.MsgspecError):
        text = (out / "control" / "summary.json").read_bytes()
        return msgspec.json.decode(text, type=Summary).progress
    return None
