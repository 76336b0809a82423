"""What a report holds: plain values, as `--json` prints them. Times are seconds since the epoch, sizes are bytes."""

from typing import Any

import msgspec

from gossamer.library.runs import Run
from gossamer.report.content import Content


class HostLine(msgspec.Struct, frozen=True):
    host: str
    lines: int
    """Of the log: visits, and URLs that left the queue without one."""
    visits: int
    pages: int
    bytes: int
    failed: int
    refused: int
    mean_seconds: float
    longest_seconds: float
    outcomes: dict[str, int]


class Refusal(msgspec.Struct, frozen=True):
    """Lines of the log with an outcome, and the rule or reason that they name; None: the outcome is the reason."""

    outcome: str
    reason: str | None
    lines: int


class NotFetched(msgspec.Struct, frozen=True):
    """What is not there, why, and what would change it."""

    what: str
    number: int
    why: str
    change: str
    """A command or setting; empty: nothing can be done here."""
    hosts: list[str] = []
    """Whose URLs these are, where it is for the sake of a few."""
    urls: list[str] = []
    """The last few of them."""


class Setting(msgspec.Struct, frozen=True):
    name: str
    value: Any
    default: Any


class Series(msgspec.Struct, frozen=True):
    """Counts in equal steps of `step` seconds; `times` are the beginnings."""

    step: int
    times: list[float]
    pages: list[int]
    bytes: list[int]
    done: list[int]
    refused: list[int]
    failed: list[int]


class Report(msgspec.Struct, frozen=True):
    directory: str
    mode: str
    """standalone or cluster"""
    nodes: list[str]
    state: str
    """running, finished, limit_reached, stopped, or unknown (there is no `state/`)"""
    state_words: str
    go_on: str | None
    """The command that goes on with the crawl; None: it runs, or there is nothing left to do."""
    began: float | None
    ended: float | None
    seconds: float | None
    """Time that the crawl has worked; None: only its state knows."""
    runs: list[Run]
    """First first; none of a crawl that was made before runs were written down."""
    lines: int
    visits: int
    pages: int
    pages_dropped: int
    bytes: int
    hosts: int
    hosts_cut: bool
    urls_seen: int | None
    urls_queued: int | None
    urls_set_aside: int
    aliases: int | None
    outcomes: dict[str, int]
    """Lines of the log; which of them are no visits to pages, the next four say (`gossamer.counts`)."""
    robots_files: dict[str, int]
    sitemaps: dict[str, int]
    probes: dict[str, int]
    unvisited: dict[str, int]
    statuses: dict[str, int]
    depths: dict[str, int]
    refusals: list[Refusal]
    not_fetched: list[NotFetched]
    links_left_out: dict[str, int]
    robots_said: dict[str, int]
    soft_404s: int
    duplicates: int
    duplicate_bytes: int
    timeline: Series
    busiest_hosts: list[HostLine]
    """Those with most lines of the log."""
    worst_hosts: list[HostLine]
    slowest_hosts: list[HostLine]
    largest_hosts: list[HostLine]
    content: Content | None
    settings: list[Setting]
    settings_known: bool
    notes: list[str]
    version: str
