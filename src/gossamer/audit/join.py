"""Each visit and its WARC record, found in one pass over both.

A batch writes records and lines in the same order, so the two are read side by side. What has no
partner yet is held: nothing in a sound crawl, at most `AHEAD` records after a missing one.
"""

from collections.abc import Iterator
from itertools import islice

from gossamer.audit.lines import Visit
from gossamer.audit.records import Facts, Records
from gossamer.audit.report import Report

AHEAD = 10_000

Key = tuple[str, str]


def join(visits: Iterator[Visit], records: Records, report: Report) -> Iterator[
    tuple[Visit, Facts | None]
]:  # fmt: skip
    """Every line of a node's log, with its record if it has one; what does not fit is reported.

    A line whose record comes later than it should is given without it.
    """
    join = _Join(records, report)
    for visit in visits:
        yield visit, join.partner(visit)
    join.finish()


class _Join:
    def __init__(self, records: Records, report: Report) -> None:
        self._records = records
        self._incoming = iter(records)
        self._report = report
        self._early: dict[Key, Facts] = {}
        self._late: dict[Key, str] = {}
        self._missing = 0
        self._last = (-1, -1)

    def partner(self, visit: Visit) -> Facts | None:
        line = visit.line
        if line.status is None or line.stored == "no":
            return None
        key = (line.url, line.time)
        facts = self._early.pop(key, None)
        if facts is None:
            room = max(0, AHEAD - len(self._early))
            for incoming in islice(self._incoming, room):
                if (incoming.uri, incoming.date) == key:
                    facts = incoming
                    break
                self._hold(incoming)
        if facts is None:
            self._miss(key, visit.where)
            return None
        self._last = max(self._last, facts.order)
        self._compare(visit, facts)
        return facts

    def _hold(self, facts: Facts) -> None:
        key = (facts.uri, facts.date)
        if self._late.pop(key, None) is not None:
            self._last = max(self._last, facts.order)
        elif key in self._early:
            self._foreign(facts)
        else:
            self._early[key] = facts

    def _miss(self, key: Key, where: str) -> None:
        # A line may stand twice: the second one has no record of its own.
        if key in self._late or len(self._late) >= AHEAD:
            self._report.violation("record_missing", where, f"{key[0]} at {key[1]}")
        else:
            self._late[key] = where

    def _foreign(self, facts: Facts) -> None:
        text = f"{facts.uri} at {facts.date} is not in the log, or is there only once"
        self._report.violation("record_foreign", facts.where, text)

    def _compare(self, visit: Visit, facts: Facts) -> None:
        line = visit.line
        for name, logged, stored in (
            ("status", line.status, facts.status),
            ("ip", line.ip, facts.ip),
            ("digest", line.digest, facts.digest),
        ):
            if logged != stored:
                text = f"{line.url}: {name} {logged} in the log, {stored} in {facts.where}"
                self._report.violation("record_differs", visit.where, text)
        whole = facts.kind == "response" and line.stored is None
        if whole and line.bytes != facts.body_length:
            text = f"{line.url}: {line.bytes} bytes in the log, {facts.body_length} stored"
            self._report.violation("record_differs", visit.where, text)
        if line.outcome == "fetched" and facts.kind != "response":
            text = f"{line.url} is fetched, but {facts.where} is a {facts.kind} record"
            self._report.violation("record_differs", visit.where, text)

    def finish(self) -> None:
        """What is left has no partner."""
        for facts in self._incoming:
            self._hold(facts)
        for (url, time), where in self._late.items():
            self._report.violation("record_missing", where, f"{url} at {time}")
        ahead = 0
        for facts in self._early.values():
            # Written before its line: the next start of the crawl cuts it.
            if self._records.has_open and facts.order > self._last:
                ahead += 1
            else:
                self._foreign(facts)
        if ahead:
            self._report.note(f"{ahead} records at the end are not committed yet")
