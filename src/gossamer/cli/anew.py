"""A new crawl where one was to which no page answered."""

import sys
from pathlib import Path

from gossamer.cli.look import looked_at
from gossamer.node.unanswered import clear_unanswered, in_use, is_ours, unanswered_visits
from gossamer.words import counted, plain


def begin_anew(out: Path, *, quiet: bool) -> bool:
    """Clears a crawl that got no answer out of the way of a new one, and says so. Whether there was one."""
    # The log tells at its first page; the state counts also what was moved away since.
    if not is_ours(out) or not unanswered_visits(out) or _has_pages(out):
        return False
    visits = clear_unanswered(out)
    if visits is None:
        return False
    if not quiet:
        print(
            f"{plain(str(out))} held a crawl to which no page answered ({counted(visits, 'visit')}); it is begun anew.",
            file=sys.stderr,
        )
    return True


def _has_pages(out: Path) -> bool:
    """By the counters of its state."""
    with looked_at(out) as look:
        if look.running or look.served_at is not None:
            raise in_use(out)
        known = look.progress
        return known is None or bool(known.pages or known.pages_dropped)
