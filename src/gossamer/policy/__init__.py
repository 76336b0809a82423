"""Judgement: what to crawl, in which order, when again, what is worth its visits, what to keep.

The mechanism is native and has no opinion; it asks at five doors, in batches, never per link.

    rules    an ordered list of rules in the settings, compiled natively           declared
    pages    finished visits → keep or drop, fields, further links, a score        called or declared
    order    fresh URLs → a score from 0 (last) to 1 (first)                       called or declared
    refresh  pages with their history → the next visit                             called
    hosts    counters of hosts → budget, weight, delay, set aside, give up         called or declared

A *declared* policy is data: numbers and formulas, handed to the native side once. A *called* policy
is a class with one method that takes a batch and gives decisions with reasons. Each folder here is a
door: `protocol.py` says what a policy of it must be, every other file is a policy. Packages add
theirs by entry points (`gossamer.order` and so on); `docs/how-to/write-a-policy.md` shows how.

Imports neither `control/` nor `cluster/` nor `node/`: who runs the policies is `node/doors.py`.
"""

from gossamer.policy.batch import Batch
from gossamer.policy.hosts.protocol import HostDecisions, HostsPolicy
from gossamer.policy.order.formula import Formula
from gossamer.policy.order.protocol import OrderPolicy, Scores
from gossamer.policy.pages.protocol import PageDecisions, PagesPolicy
from gossamer.policy.refresh.protocol import NextVisits, RefreshPolicy

__all__ = [
    "Batch",
    "Formula",
    "HostDecisions",
    "HostsPolicy",
    "NextVisits",
    "OrderPolicy",
    "PageDecisions",
    "PagesPolicy",
    "RefreshPolicy",
    "Scores",
]
