"""Progress: what a crawl has done so far and what it does now. Counters, never scans."""

from collections.abc import Iterable
from enum import StrEnum

import msgspec

from gossamer.model.waits import Wait


class Activity(StrEnum):
    """What the crawl is doing, or how it ended."""

    RUNNING = "running"
    PAUSED = "paused"
    DISK_FULL = "disk_full"
    FINISHED = "finished"
    LIMIT_REACHED = "limit_reached"
    STOPPED = "stopped"
    """It does not run, and URLs are queued."""
    UNKNOWN = "unknown"
    """It does not run, and there is no state that tells what was queued."""


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


class HostLine(msgspec.Struct, frozen=True):
    """A host that stands out. Times in seconds."""

    host: str
    pages: int
    queued: int
    gap: float
    """The least time between two of its visits."""
    response: float
    """How long it takes to answer."""
    left: float
    """What it needs at least for all that it has queued, if nothing new comes."""


class SeedFailure(msgspec.Struct, frozen=True):
    """A seed that could not be had, or not yet."""

    url: str
    outcome: str


class Inner(msgspec.Struct, frozen=True):
    """Sizes of what a node holds in memory, and what its cache of names did since it began."""

    seen_ram: int = 0
    """Bytes of the seen test in memory, and of its own files."""
    seen_disk: int = 0
    hosts_in_ram: int = 0
    heads: int = 0
    """Queued URLs in memory, and their bytes."""
    head_bytes: int = 0
    robots_rules: int = 0
    """Robots files whose rules are in memory, and the bytes of these files."""
    robots_bytes: int = 0
    dns_names: int = 0
    dns_asked: int = 0
    dns_hits: int = 0
    dns_lookups: int = 0
    dns_seconds: float = 0.0
    """That look-ups took, all together."""

    @staticmethod
    def total(parts: "Iterable[Inner]") -> "Inner":
        """Of several nodes."""
        parts = list(parts)
        return Inner(
            **{name: sum(getattr(part, name) for part in parts) for name in Inner.__struct_fields__}
        )


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
    """Lines of the fetch log; which of them are no visits to pages, the next four say (`gossamer.counts`)."""
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
    longest_batch: float = 0.0
    """Seconds that the slowest batch since the process began took to be applied to the state."""
    idle: bool = False
    settled: bool = True
    """The counters are whole: nothing that visits brought waits to be safe."""
    hosts_blocked: int = 0
    reranking: int = 0
    reranked: int = 0
    pages_dropped: int = 0
    """Fetched, and not kept by a policy; the limits count them too."""
    robots_files: dict[str, int] = {}
    """Visits to robots files, by outcome."""
    sitemaps: dict[str, int] = {}
    """Visits to sitemaps, by outcome."""
    probes: dict[str, int] = {}
    """Visits that asked for a name that cannot exist, by outcome."""
    unvisited: dict[str, int] = {}
    """URLs that left the queue without a visit, by outcome."""
    links_left_out: dict[str, int] = {}
    """Links of pages that were not followed, by reason (`policy.rules.left_out`), each time they were met."""
    robots_said: dict[str, int] = {}
    """Pages that say `noindex` or `nofollow` to robots."""
    soft_404s: int = 0
    """Visits that brought what their host answers to a name that does not exist."""
    script_pages: int = 0
    """Pages with scripts and hardly any text or links of their own: a browser would have to make them."""
    urls_set_aside: int = 0
    """URLs of doubted patterns, which wait to be taken up."""
    waits: dict[str, Wait] = {}
    """Hosts that wait after a failure or because they asked for it, by the outcome that made them."""
    slowest: list[HostLine] = []
    """The hosts that need longest for what they have queued, the slowest first."""
    busiest: list[HostLine] = []
    """The hosts with most pages."""
    seed_failures: list[SeedFailure] = []
    """The first failures of seeds, since this process began; a bounded number."""
    seeds_failed: int = 0
    """How many there were."""
    doors: dict[str, DoorReport] = {}
    """By door; only those with a policy."""
    inner: Inner = Inner()
