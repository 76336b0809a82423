"""Lending addresses: hosts of several nodes that share an IP address keep its gap together.

The home of an address is the owner of the partition that the address hashes to. It lends an address
to one node at a time, for some seconds. Takes: what a node waits for and what it uses. Gives: for
each address how long it may be used from now, and how long to wait first. Guarantees: two nodes never
hold one address at the same time, and between them lies the gap; a holder that still uses an address
keeps it until it is done, but nobody keeps it for ever while somebody waits. Times are spans, so no
two machines' clocks are compared: the asker counts from the moment at which it asked.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

TERM = 3.0
"""Seconds that a grant lasts. Longer: fewer messages; shorter: addresses change hands sooner."""

LONGEST = 10.0
"""Seconds after which a holder must let others, if there are any."""

MOST_ADDRESSES = 1_000_000
"""Addresses remembered; the oldest that nobody holds are forgotten first."""


@dataclass
class _Loan:
    holder: str
    since: float
    until: float
    waiting: dict[str, tuple[float, float]] = field(default_factory=dict)
    """Who else asked: the first time and the last."""


class Grants:
    """The loans of the addresses whose homes are here. In memory only: see `begin`."""

    def __init__(self, gap: float, clock: Callable[[], float]) -> None:
        self.gap = gap
        self._clock = clock
        self._loans: dict[str, _Loan] = {}
        self._silent_until: dict[int, float] = {}

    def begin(self, partition: int, *, fresh: bool) -> None:
        """From now on the addresses of this partition are ours to lend.

        Unless the partition never had an owner (`fresh`), somebody may hold a grant of the owner
        before us: until the longest has run out we only confirm what is in use.
        """
        if fresh:
            self._silent_until.pop(partition, None)
        else:
            self._silent_until[partition] = self._clock() + TERM + self.gap

    def end(self, partition: int, home: Callable[[str], int]) -> None:
        """The addresses of this partition are another's to lend."""
        self._silent_until.pop(partition, None)
        for address in [one for one in self._loans if home(one) == partition]:
            del self._loans[address]

    def ask(
        self, node: str, wanted: Iterable[str], busy: Iterable[str], home: Callable[[str], int]
    ) -> list[tuple[str, float, float]]:
        """(address, seconds it may be used, seconds to wait first) for those that are granted."""
        now = self._clock()
        rows = []
        for address in busy:
            until = self._renew(node, address, now)
            if until is not None:
                rows.append((address, until - now, 0.0))
        for address in wanted:
            row = self._lend(node, address, now, self._silent_until.get(home(address), 0.0))
            if row is not None:
                rows.append(row)
        if len(self._loans) > MOST_ADDRESSES:
            self._forget(now)
        return rows

    def _renew(self, node: str, address: str, now: float) -> float | None:
        """For an address in use: it stays its holder's, but new visits end when others wait."""
        loan = self._loans.get(address)
        if loan is None or (loan.holder != node and loan.until + self.gap <= now):
            # A grant of the home before us, still in use: confirmed, and known from now on.
            loan = self._loans[address] = _Loan(node, now, now)
        if loan.holder != node:
            return None
        loan.until = now + TERM
        return None if self._must_let_go(loan, now) else loan.until

    def _must_let_go(self, loan: _Loan, now: float) -> bool:
        """Others wait, and the holder's turn was long."""
        gone = [who for who, (_first, last) in loan.waiting.items() if last < now - TERM]
        for who in gone:
            del loan.waiting[who]
        return bool(loan.waiting) and now - loan.since >= LONGEST

    def _lend(
        self, node: str, address: str, now: float, silent_until: float
    ) -> tuple[str, float, float] | None:
        loan = self._loans.get(address)
        if loan is None:
            if now < silent_until:
                return None
            loan = self._loans[address] = _Loan(node, now, now)
        must_let_go = self._must_let_go(loan, now)
        if loan.holder == node:
            if must_let_go:
                return None
        else:
            first, _last = loan.waiting.get(node, (now, now))
            loan.waiting[node] = (first, now)
            earliest = min(loan.waiting, key=lambda who: loan.waiting[who])
            if loan.until + self.gap > now or earliest != node:
                return None
            del loan.waiting[node]
            loan.holder, loan.since = node, now
        loan.until = now + TERM
        return address, TERM, 0.0

    def _forget(self, now: float) -> None:
        over = [one for one, loan in self._loans.items() if loan.until + self.gap <= now]
        for address in over:
            del self._loans[address]
