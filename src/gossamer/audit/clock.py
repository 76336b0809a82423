"""A clock that was set back, told apart from one odd line.

The log is in the order in which visits were finished, so the ends of visits grow but for the time
that work on a page takes. When a line and the next ones all end well before what was seen already,
the machine's clock was set back there. A single such line is judged as it stands.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from gossamer.audit.lines import Visit
from gossamer.audit.records import Facts

BACK = 1_000_000
"""Microseconds: less than this may be work on a large page."""

NEXT = 3
"""Lines that must agree."""

Pair = tuple[Visit, Facts | None]


@dataclass(frozen=True, slots=True)
class Stepped:
    """A line with what the clock did before it."""

    visit: Visit
    facts: Facts | None
    latest: int
    """The latest end so far, by this and every earlier line; it never goes back."""
    set_back: int | None


def steps(pairs: Iterator[Pair]) -> Iterator[Stepped]:
    """Marks the lines before which the clock was set back."""
    ahead: deque[Pair] = deque()
    latest = order = 0
    for pair in pairs:
        ahead.append(pair)
        if len(ahead) <= NEXT:
            continue
        latest, order, stepped = _step(ahead, latest, order)
        yield stepped
    while ahead:
        latest, order, stepped = _step(ahead, latest, order)
        yield stepped


def _step(ahead: deque[Pair], latest: int, order: int) -> tuple[int, int, Stepped]:
    back = [latest - visit.end for visit, _ in ahead]
    visit, facts = ahead.popleft()
    # One line alone, the last of the log, proves nothing.
    is_back = len(back) > 1 and min(back) > BACK
    latest = visit.end if is_back else max(latest, visit.end)
    order = max(order, latest)
    return latest, order, Stepped(visit, facts, order, back[0] if is_back else None)
