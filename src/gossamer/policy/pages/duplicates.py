"""Duplicates: what happens to a page whose content is stored under another URL already.

The content is compared natively, byte for byte by its digest. The page is not stored again: a revisit
record names the one that was stored first, and the outcome is `duplicate`. Its links are taken all the
same: relative ones lead to other URLs than those of the first page. `[policy.duplicates]
follow_links = false` leaves them, for crawls where copies are known to lead nowhere new.
"""

from collections.abc import Mapping
from typing import Any

import msgspec


class Duplicates(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    follow_links: bool = True
    """Take the links of every copy, not only of the page that was stored first."""

    @classmethod
    def read(cls, settings: Mapping[str, Any]) -> "Duplicates":
        """From the table `[policy.duplicates]`; ValueError names what is wrong."""
        return msgspec.convert(dict(settings), cls)

    def to_native(self) -> dict[str, object]:
        return msgspec.structs.asdict(self)
