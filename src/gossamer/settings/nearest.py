"""Names of settings that somebody may have meant, over all stages."""

import difflib
from collections.abc import Iterable

from gossamer.settings.removed import REMOVED, replacement
from gossamer.settings.rows import rows

MOST = 3


def nearest(name: str) -> list[str]:
    """The settings whose names are most like this one, the best first; none if none is."""
    known = [row.name for row in rows()]
    stages = list(dict.fromkeys(row.stage for row in rows() if row.stage != "crawl"))
    *tables, last = name.lower().replace("-", "_").split(".")
    lasts = {one: one.rpartition(".")[2] for one in known}
    beside = [one for one in known if one.startswith(f"{tables[0]}.")] if tables else []
    found: list[str] = []

    def add(names: Iterable[str]) -> None:
        found.extend(one for one in names if one not in found)

    # From what is surely meant to what may be: the right name in another stage, a slip of the
    # fingers in this stage or in any, a part of a name.
    add(one for one in known if lasts[one] == last)
    if not found:
        near = difflib.get_close_matches(last, [lasts[one] for one in beside], n=MOST, cutoff=0.7)
        add(one for one in beside if lasts[one] in near)
    if not found:
        add(difflib.get_close_matches(name, known, n=MOST, cutoff=0.75))
        near = difflib.get_close_matches(last, lasts.values(), n=MOST, cutoff=0.75)
        add(one for one in known if lasts[one] in near)
        if not tables:
            add(difflib.get_close_matches(last, stages, n=1, cutoff=0.75))
    if not found:
        words = {word for word in last.split("_") if len(word) > 2}
        add(one for one in known if words & set(lasts[one].split("_")))
    return found[:MOST]


def unknown_setting(name: str) -> str:
    """What to say of a name that is no setting: what took its place, or what may be meant."""
    last = name.rpartition(".")[2]
    old = next((old for old in REMOVED if old.rpartition(".")[2] == last), name)
    if gone := replacement(name) or replacement(old):
        return gone
    near = nearest(name)
    hint = f"did you mean {' or '.join(near)}?" if near else "gossamer settings lists all"
    return f"unknown setting {name[:100]} ({hint})"
