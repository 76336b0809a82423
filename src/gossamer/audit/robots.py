"""The robots rules in force, from the robots files in the WARC records.

A robots file that moved is followed as the crawler does (RFC 9309, 2.3.1.2): the last answer holds
for the host that was asked first.
"""

from dataclasses import dataclass, field

from gossamer._native import Robots, UrlRules, canonical_urls, host
from gossamer.audit.lines import Visit
from gossamer.audit.records import Facts, is_robots

HOPS = 5
BYTES = 512 << 10

Site = tuple[str, str]
"""Scheme and host."""


def site(url: str) -> Site:
    return url.split(":", 1)[0], host(url)


@dataclass(slots=True)
class Rules:
    """What is known of a site. `robots is None`: all is allowed."""

    robots: Robots | None
    since: int
    before: "Rules | None" = None

    def at(self, time: int) -> "Rules | None":
        """The rules that a visit begun at `time` went by."""
        return self if time >= self.since else self.before


@dataclass(slots=True)
class RobotsBook:
    """The rules of every site met so far. Memory: about the size of the robots files."""

    agent: str
    longest_delay: float
    rules: UrlRules
    sites: dict[Site, Rules] = field(default_factory=dict)
    unreachable: set[Site] = field(default_factory=set)
    delays: dict[Site, float] = field(default_factory=dict)
    moved: dict[str, tuple[Site, int]] = field(default_factory=dict)
    """Where a robots file is expected next: for which site, and after how many redirects."""

    def is_robots_visit(self, visit: Visit) -> bool:
        return is_robots(visit.line.url) or visit.line.url in self.moved

    def note(self, visit: Visit, facts: Facts | None) -> None:
        """Takes in a visit to a robots file."""
        url = visit.line.url
        about, hops = self.moved.pop(url, (site(url), 0))
        outcome = visit.line.outcome
        if outcome == "redirected" and hops < HOPS:
            target = self._target(url, facts)
            if target is not None:
                self.moved[target] = (about, hops + 1)
                return
        if outcome in {"fetched", "truncated", "duplicate"}:
            body = facts.robots if facts is not None and facts.robots is not None else b""
            self._hold(about, Robots(body[:BYTES], self.agent), visit.end)
        elif outcome in {"redirected", "gone", "refused"}:
            self._hold(about, None, visit.end)
        else:
            self.unreachable.add(about)

    def _target(self, url: str, facts: Facts | None) -> str | None:
        if facts is None or not facts.location:
            return None
        target, _ = canonical_urls([facts.location], url, self.rules)[0]
        return target if target != url else None

    def _hold(self, about: Site, robots: Robots | None, since: int) -> None:
        before = self.sites.get(about)
        if before is not None:
            before.before = None
        self.sites[about] = Rules(robots, since, before)
        self.unreachable.discard(about)
        delay = robots.crawl_delay if robots is not None else None
        if delay:
            self.delays[about] = min(delay, self.longest_delay)
        else:
            self.delays.pop(about, None)

    def crawl_delay(self, name: str) -> tuple[float, int]:
        """The Crawl-delay of a host in seconds, the longer one of its two schemes, and since when."""
        asked = [(self.delays[of], self.sites[of].since) for of in self._schemes(name)]
        return max((delay for delay, _ in asked), default=0.0), min(
            (since for _, since in asked), default=0
        )

    def _schemes(self, name: str) -> list[Site]:
        return [of for of in (("http", name), ("https", name)) if of in self.delays]

    def forget_times(self) -> None:
        """The clock was set back: what is known holds from now on."""
        for rules in self.sites.values():
            rules.since = 0
            rules.before = None
