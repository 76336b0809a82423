"""A new crawl where one was that brought no page."""

import sys
from pathlib import Path

from gossamer.node.begun_anew import clear_fruitless
from gossamer.words import counted, plain


def begin_anew(out: Path, *, quiet: bool) -> bool:
    """Clears a crawl that brought no page out of the way of a new one, and says so. Whether there was one."""
    visits = clear_fruitless(out)
    if visits is not None and not quiet:
        print(
            f"{plain(str(out))} held a crawl that brought no page ({counted(visits, 'visit')}, all without one); "
            "it is begun anew.",
            file=sys.stderr,
        )
    return visits is not None
