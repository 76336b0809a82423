"""The frontier's contract through the binding: nothing lost, nothing early, whatever the order of calls."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from gossamer._native import MemoryFrontier

SECOND = 1_000_000
GAP = 2 * SECOND
RETRIED = ["timed_out", "connect_failed", "throttled", "protocol_broken", "dns_failed"]
FINAL = ["fetched", "gone", "refused", "redirected", "too_large"]


class FrontierMachine(RuleBasedStateMachine):
    """Calls in any order, judged by a model that knows only what a caller knows."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 1_000_000 * SECOND
        self.frontier = MemoryFrontier(self.now, gap_us=GAP, ip_gap_us=0)
        self.made = 0
        self.queued: set[str] = set()
        self.committed: set[str] = set()
        self.leases: dict[int, tuple[str, str, int]] = {}
        self.last: dict[int, int] = {}

    @rule(host=st.integers(0, 3), score=st.floats(0, 1), secret=st.booleans())
    def add(self, host: int, score: float, secret: bool) -> None:
        self.made += 1
        path = f"/{'no' if secret else 'yes'}/{self.made}"
        if self.frontier.add(self.now, [(path, f"h{host}.test", host, score)]) == [None]:
            self.queued.add(f"http://h{host}.test{path}")

    @rule(most=st.integers(1, 4))
    def take(self, most: int) -> None:
        answer, until, visits, refusals = self.frontier.take(self.now, most)
        for url, _outcome in refusals:
            self.queued.remove(url)
        for lease, purpose, url, host, _tries in visits:
            assert host not in {held[2] for held in self.leases.values()}
            assert self.now >= self.last.get(host, 0) + GAP
            assert purpose == "robots" or url in self.queued
            assert purpose == "robots" or "/no/" not in url
            self.leases[lease] = (purpose, url, host)
        if answer == "finished":
            assert not self.queued
        if answer == "nothing_due" and not refusals:
            assert until >= self.now

    @rule(data=st.data())
    def finish(self, data: st.DataObject) -> None:
        if not self.leases:
            return
        lease = data.draw(st.sampled_from(sorted(self.leases)))
        purpose, url, host = self.leases.pop(lease)
        self.last[host] = self.now
        if purpose == "robots":
            verdict = self.frontier.finish(
                self.now, lease, "fetched", response_us=1000, robots=b"/no/"
            )
            assert verdict == "robots_known"
            return
        outcome = data.draw(st.sampled_from(RETRIED + FINAL))
        verdict = self.frontier.finish(self.now, lease, outcome, response_us=1000)
        if outcome in FINAL:
            assert verdict == "done"
        if verdict == "done":
            self.queued.remove(url)
        assert self.frontier.finish(self.now, lease, outcome) == "unknown_lease"

    @rule(seconds=st.integers(0, 7200))
    def wait(self, seconds: int) -> None:
        self.now += seconds * SECOND

    @rule()
    def commit(self) -> None:
        self.frontier.commit()
        self.committed = set(self.queued)

    @rule()
    def crash(self) -> None:
        for _purpose, _url, host in self.leases.values():
            self.last[host] = self.now
        self.leases.clear()
        self.queued = set(self.committed)
        self.frontier.crash(self.now)

    @invariant()
    def counts(self) -> None:
        queued, leases, repairs = self.frontier.counts()
        assert repairs == 0
        assert leases == len(self.leases)
        assert queued == len(self.queued)


FrontierMachine.TestCase.settings = settings(max_examples=60, stateful_step_count=60, deadline=None)
TestFrontier = FrontierMachine.TestCase
