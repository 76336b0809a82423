"""Pages that say `noarchive`: what is stored of them.

The word asks those who show copies of pages not to show one of this page; it forbids neither to fetch it nor
to follow its links, nor to keep it for an index of one's own. So such a page is stored like any other, and marked:
`noarchive` is a column of `gossamer export` and of the door `pages`, by which whoever publishes copies leaves it
out. Where the store itself is what people are shown, `[policy.noarchive] store = "head"` keeps only that the page
was there (its head), and `store = "nothing"` only its line in the log.
"""

from collections.abc import Mapping
from typing import Any, Literal

import msgspec


class Noarchive(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    store: Literal["page", "head", "nothing"] = "page"
    """What is written to the WARC files of a page that says `noarchive`."""

    @classmethod
    def read(cls, settings: Mapping[str, Any]) -> "Noarchive":
        """From the table `[policy.noarchive]`; ValueError names what is wrong."""
        return msgspec.convert(dict(settings), cls)

    def to_native(self) -> dict[str, object]:
        return msgspec.structs.asdict(self)
