"""Progress: what a crawl has done so far and what it does now. Counters, never scans."""

from enum import StrEnum

import msgspec

from gossamer.model.waits import Wait


class Activity(StrEnum):
    """What the crawl is doing."""

    RUNNING = "running"
    PAUSED = "paused"
    DISK_FULL = "disk_full"
    FINISHED = "finished"
    LIMIT_REACHED = "limit_reached"


class DoorReport(msgspec.Struct, frozen=True):
    """How the policies of a door did, since this process began."""

    batches: int = 0
    """Batches that were answered."""
    rows: int = 0
    failures: int = 0
    """Batches that were not: late, failed or answered with nonsense."""
    late: int = 0
    failed: int = 0
    nonsense: int = 0
    defaults: int = 0
    """Rows that had the native default because of that, or because the door rested."""
    resting: float | None = None
    """Seconds that the door still rests after failures."""
    last_failure: str = ""


class Progress(msgspec.Struct, frozen=True):
    """A reading of the counters. Totals count from the crawl's first start, not this process's."""

    activity: Activity
    pages: int
    bytes: int
    urls_seen: int
    urls_queued: int
    visits: int
    in_flight: int
    hosts_known: int
    hosts_active: int
    hosts_waiting: int
    hosts_set_aside: int
    outcomes: dict[str, int]
    rss: int
    disk: int
    seconds: float
    next_due: float | None = None
    note: str = ""
    hosts_aliases: int = 0
    outbox: int = 0
    messages_sent: int = 0
    messages_received: int = 0
    links_sent: int = 0
    links_bytes: int = 0
    links_asked: int = 0
    links_known: int = 0
    links_discarded: int = 0
    messages_damaged: int = 0
    exchange_seconds: float = 0.0
    idle: bool = False
    settled: bool = True
    """The counters are whole: nothing that visits brought waits to be safe."""
    hosts_blocked: int = 0
    reranking: int = 0
    reranked: int = 0
    pages_dropped: int = 0
    """Fetched, and not kept by a policy; the limits count them too."""
    links_left_out: dict[str, int] = {}
    """Links of pages that were not followed, by reason (`policy.rules.left_out`), each time they were met."""
    robots_said: dict[str, int] = {}
    """Pages that say `noindex` or `nofollow` to robots."""
    soft_404s: int = 0
    """Visits that brought what their host answers to a name that does not exist."""
    urls_set_aside: int = 0
    """URLs of doubted patterns, which wait to be taken up."""
    waits: dict[str, Wait] = {}
    """Hosts that wait after a failure or because they asked for it, by the outcome that made them."""
    doors: dict[str, DoorReport] = {}
    """By door; only those with a policy."""
