"""Politeness: gaps, overlaps, robots rules and Retry-After, visit by visit.

Visits come in the order of the log, which is the order in which the crawler finished them; a host's
next visit begins only after its last one was finished, so this is also the order of their starts.
"""

import email.utils
from dataclasses import dataclass, field
from datetime import UTC
from typing import NamedTuple

from gossamer._native import Rules
from gossamer.audit.lines import Visit
from gossamer.audit.records import Facts
from gossamer.audit.report import Report
from gossamer.audit.robots import RobotsBook, site
from gossamer.node.native_settings import to_native
from gossamer.settings import CrawlSettings
from gossamer.settings.url_rules import url_rules

TOLERANCE = 1_000
"""Microseconds: times in the log are rounded."""

STALE_SLACK = 120_000_000
"""Microseconds: a visit may wait so long between its turn and its start."""

LONGEST_RETRY_AFTER = 86_400_000_000
"""Microseconds: a longer wish of a host is cut to this, as the crawler does."""

ADDRESSES_KEPT = 200_000


@dataclass(slots=True)
class _Turns:
    """The latest visits to a host or an address."""

    end: int = 0
    """When the last one ended; 0: none yet, or none that can be compared."""
    recent: list[tuple[int, int]] = field(default_factory=list)
    """Starts and ends, where several visits at a time are allowed."""


@dataclass(slots=True)
class _Host(_Turns):
    gap: float = 0.0
    """Seconds between visits, Crawl-delay apart."""
    per_host: int = 1
    asked_at: int = 0
    retry_at: int = 0
    asked: str = ""
    ips: set[str] = field(default_factory=set)


class _Due(NamedTuple):
    """The gap that is due, in microseconds, to whom, by which setting, and visits at a time."""

    gap: int
    whose: str
    source: str
    per_host: int


class Politeness:
    """Judges visits one by one."""

    def __init__(self, settings: CrawlSettings, report: Report) -> None:
        polite = settings.politeness
        self._report = report
        self._settings = polite
        self._delay = polite.delay
        address = polite.delay if polite.address_delay is None else polite.address_delay
        self._address_gap = round(address * 1e6)
        rules = url_rules(settings)
        self.robots = RobotsBook(settings.fetch.agent, polite.max_crawl_delay, rules)
        self._rules = Rules(to_native(settings)) if settings.rule else None
        self._hosts: dict[str, _Host] = {}
        self._addresses: dict[str, _Turns] = {}
        self._known_addresses = 0

    def clock_set_back(self) -> None:
        """Times before and after cannot be compared: every clock starts anew."""
        for turns in (*self._hosts.values(), *self._addresses.values()):
            turns.end = 0
            turns.recent.clear()
        for state in self._hosts.values():
            state.retry_at = 0
        self.robots.forget_times()

    def judge(self, visit: Visit, facts: Facts | None) -> None:
        """A visit, and its record if there is one."""
        name = visit.line.host
        state = self._hosts.get(name)
        if state is None:
            state = self._hosts[name] = self._terms(name)
            self._report.hosts += 1
        self._gap_of_host(visit, state)
        if visit.line.ip is not None:
            self._gap_of_address(visit, visit.line.ip, state)
        if self.robots.is_robots_visit(visit):
            self.robots.note(visit, facts)
        else:
            self._robots(visit)
        self._retry_after(visit, facts, state)

    def _terms(self, name: str) -> _Host:
        """A host with its own gap and number of connections."""
        delay, per_host, _pages = self._rules.host(name) if self._rules else (None, None, None)
        gap = self._settings.overrides.get(name, self._delay if delay is None else delay)
        return _Host(gap=gap, per_host=per_host or self._settings.per_host)

    def _gap_of_host(self, visit: Visit, state: _Host) -> None:
        name = visit.line.host
        setting = state.gap
        asked, since = self.robots.crawl_delay(name)
        source = "politeness.delay" if setting >= asked else "Crawl-delay"
        gap = round(max(setting, asked) * 1e6)
        # A site that names a Crawl-delay is visited by one connection; visits that began before it
        # was known may go on beside it.
        alone = asked > 0 and visit.start >= since
        due = _Due(gap, f"host {name}", source, 1 if alone else state.per_host)
        self._turn(visit, visit.start, state, due)
        if state.asked_at <= visit.start < state.retry_at - TOLERANCE:
            text = (
                f"{visit.line.url} began {_seconds(state.retry_at - visit.start)} too early: "
                f"{state.asked}"
            )
            self._report.violation("retry_after", visit.where, text)

    def _gap_of_address(self, visit: Visit, ip: str, host: _Host) -> None:
        turns = self._addresses.get(ip)
        if turns is None:
            self._report.addresses += 1
            if len(self._addresses) >= ADDRESSES_KEPT:
                self._forget_addresses(visit.start)
            turns = self._addresses[ip] = _Turns()
        first = ip not in host.ips
        if first:
            if len(host.ips) >= 64:
                host.ips.clear()
            host.ips.add(ip)
        # The address is known only when the name is resolved, which is after the start of the
        # visit: of a host's first visit to an address, only its end proves anything.
        start = visit.end if first else visit.start
        due = _Due(self._address_gap, f"address {ip}", "politeness.address_delay", host.per_host)
        self._turn(visit, start, turns, due)

    def _turn(self, visit: Visit, start: int, turns: _Turns, due: _Due) -> None:
        gap, whose, source, per_host = due
        kind = whose.partition(" ")[0]
        if per_host > 1:
            self._overlaps(visit, start, turns, due)
        elif turns.end:
            self._report.gaps += 1
            spare = start - turns.end - gap
            if spare < -TOLERANCE:
                word = "overlap" if start < turns.end - TOLERANCE else "early"
                text = (
                    f"{visit.line.url} began {_seconds(start - turns.end)} after the end of the "
                    f"last visit to {whose}; {_seconds(gap)} are due ({source})"
                )
                self._report.violation(f"{word}_{kind}", visit.where, text)
            elif kind == "host":
                tightest = self._report.tightest
                if tightest is None or spare / 1e6 < tightest[0]:
                    self._report.tightest = (spare / 1e6, visit.where)
        turns.end = max(turns.end, visit.end)

    def _overlaps(self, visit: Visit, start: int, turns: _Turns, due: _Due) -> None:
        # The log is in the order of ends: what was seen before and ended after this start was
        # under way beside it.
        start = min(start + TOLERANCE, visit.end)
        beside = [span for span in turns.recent if span[1] > start]
        beside.append((start, visit.end))
        moments = [span[0] for span in beside if span[0] >= start]
        most = max(sum(begun <= at < end for begun, end in beside) for at in moments)
        if most > due.per_host:
            kind = due.whose.partition(" ")[0]
            text = f"{visit.line.url} is one of {most} visits to {due.whose} at a time"
            self._report.violation(f"overlap_{kind}", visit.where, text)
        turns.recent = [*turns.recent, (start, visit.end)][-128:]

    def _forget_addresses(self, now: int) -> None:
        old = now - self._address_gap - 600_000_000
        self._addresses = {ip: turns for ip, turns in self._addresses.items() if turns.end > old}

    def _robots(self, visit: Visit) -> None:
        url = visit.line.url
        where = site(url)
        known = self.robots.sites.get(where)
        rules = known.at(visit.start + TOLERANCE) if known is not None else None
        if rules is None:
            word = "are unreachable" if where in self.robots.unreachable else "were not fetched"
            text = f"{url} was visited, and the robots rules of {where[1]} {word}"
            self._report.violation("robots_first", visit.where, text)
            return
        age = visit.start - rules.since
        if rules.since and age > round(self._settings.robots_refresh * 1e6) + STALE_SLACK:
            text = f"{url} was visited by robots rules that are {_seconds(age)} old"
            self._report.violation("robots_stale", visit.where, text)
        path = "/" + url.split("/", 3)[3]
        if rules.robots is not None and not rules.robots.allows(path):
            rule = rules.robots.which_rule(path)
            told = f"line {rule[0]}: Disallow: {rule[2]}" if rule is not None else "a rule"
            text = f"{url} is forbidden by robots.txt of {where[1]}, {told}"
            self._report.violation("robots_forbidden", visit.where, text)

    def _retry_after(self, visit: Visit, facts: Facts | None, state: _Host) -> None:
        if visit.line.status not in {429, 503} or facts is None or facts.retry_after is None:
            return
        until = _retry_at(facts.retry_after, visit.end, facts.server_date)
        if until is not None and until > state.retry_at:
            state.asked_at, state.retry_at = visit.end, until
            state.asked = f"{visit.line.status} with Retry-After: {facts.retry_after[:60]}"


def _retry_at(value: str, end: int, server_date: str | None) -> int | None:
    """Until when a Retry-After field asks to wait; `None`: it says nothing that can be read.

    A date is by the server's clock, which may be another than ours, if it tells what that shows.
    """
    first = value.strip()
    digits = first.split(".", 1)[0]
    if digits.isascii() and digits.isdigit():
        seconds = int(digits) if len(digits) < 12 else 10**12
        return end + min(seconds * 1_000_000, LONGEST_RETRY_AFTER)
    date, now = _micros(first), _micros(server_date) if server_date else None
    if date is None:
        return None
    return min(date if now is None else end + date - now, end + LONGEST_RETRY_AFTER)


def _micros(text: str) -> int | None:
    """A date of HTTP, in microseconds since the epoch."""
    try:
        date = email.utils.parsedate_to_datetime(text.strip())
        date = date if date.tzinfo else date.replace(tzinfo=UTC)
        return round(date.timestamp() * 1e6)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _seconds(micros: int) -> str:
    return f"{micros / 1e6:.3f} s"
