"""Parse: what a page says.

Takes a response body (content encodings undone) and the headers that speak about it; gives links as
written, robots directives, title, language and text signals. Never fails, whatever the bytes.

The work is done in native code (`rust/core/src/parse`), in the visit engine without Python. This
package is the same door for plug-ins and tests: `page` takes one body and gives a `ParsedPage`.
"""

from typing import NamedTuple

from gossamer._native import ParsedPage, near_duplicate
from gossamer._native import parse_page as page

__all__ = ["NEAR_DUPLICATE_BITS", "Link", "ParsedPage", "links", "near_duplicate", "page"]

# Two pages whose SimHashes differ in no more bits say the same.
NEAR_DUPLICATE_BITS = 3


class Link(NamedTuple):
    """One link of a page; its address is as written, not resolved."""

    kind: str
    target: str
    rel: frozenset[str]
    anchor: str
    hreflang: str


def links(parsed: ParsedPage) -> list[Link]:
    """The links of a page, in the order of the document; those of the header come first."""
    return [
        Link(kind, target, frozenset(rel.split()), anchor, hreflang)
        for kind, target, rel, anchor, hreflang in parsed.links
    ]
