"""Which limits a crawl has reached, in words, and the options that raise them."""

from typing import NamedTuple

from gossamer.model.progress import Progress
from gossamer.settings.model import LimitSettings
from gossamer.words import counted, size, span


class Limit(NamedTuple):
    """What ended a crawl, or would."""

    words: str
    option: str


def reached(limits: LimitSettings, now: Progress) -> Limit | None:
    """All that are reached, as one: a crawl goes on only if each of them is raised. None: there is none."""
    found: list[Limit] = []
    if limits.pages is not None and now.pages + now.pages_dropped >= limits.pages:
        found.append(Limit(counted(limits.pages, "page"), "--max-pages N"))
    if limits.bytes is not None and now.bytes >= limits.bytes:
        found.append(Limit(size(limits.bytes), "--set limits.bytes=SIZE"))
    if limits.time is not None and now.seconds >= limits.time:
        found.append(Limit(span(limits.time), "--set limits.time=TIME"))
    if not found:
        return None
    return Limit(" and ".join(one.words for one in found), " ".join(one.option for one in found))
