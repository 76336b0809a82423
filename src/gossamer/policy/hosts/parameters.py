"""Parameters that change nothing: when a parameter of a host's URLs is left out, told by what visits brought.

Where two visited URLs of a host differ in one parameter alone, their pages speak for or against it: the same
content, or of HTML the same text and links but for the parameter itself and times of day. Nothing is
judged by its name; that of a session, or a value that looks like a token, only needs fewer pages. Once learnt, the
links of the host lose the parameter, and a page that was visited under another value is not asked for
again. A few URLs keep it, to see whether that still holds; where they are other pages, the finding
is undone for good and what was left out comes back. `gossamer patterns` lists findings and overrules them.

The evidence is gathered natively (`rust/core/src/links/patterns/parameters.rs`); what it means is said here. Change
a number in the table `[policy.parameters]`.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Final

import msgspec

from gossamer.policy.hosts.aliases import NEAR_BITS

Count = Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]
Few = Annotated[int, msgspec.Meta(ge=1, le=16)]
Share = Annotated[float, msgspec.Meta(ge=0.0, le=1.0)]


class Parameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """When a parameter is left out."""

    enabled: bool = True
    """False: nothing is learnt, and links keep what was learnt before."""
    agreements: Count = 8
    """URLs that must have the same page with another value of the parameter. A list that has only one page gives such
    evidence too (`?page=1`), so there must be more than a few, and the next three conditions."""
    agreements_session: Count = 3
    """The same where the parameter has the name of a session (`canonical.strip_sessions`) or the value looks like a
    token: that is what sessions look like, and each page without an answer has as many URLs as visits."""
    pages: Few = 3
    """Different pages among them: one page may have a parameter that it ignores."""
    values: Few = 3
    """Different values among them: `?page=1` is the list itself, `?page=2` is not."""
    values_token: Few = 2
    """The same where all values look like tokens: no page number does."""
    without: Few = 2
    """Pages among them that were also visited without the parameter: some servers want to have it, whatever its value.
    Where links always have it, such URLs are asked for."""
    paths: Few = 3
    """Different paths among them before it is left out in a whole folder or on the whole host: two scripts may
    mean different things by one name."""
    differences: Share = 0.05
    """Share of the compared URLs that may have another page: pages change while they are visited."""
    sample: Annotated[int, msgspec.Meta(ge=0, le=1_000_000)] = 64
    """One in so many URLs keeps the parameter after it was learnt, by lot; 0: none."""
    samples: Count = 8
    """At most so many for a parameter, and one more for each 4,096 links that lost it."""
    stale: Annotated[float, msgspec.Meta(ge=0.0)] = 21_600.0
    """Seconds between two visits after which another page says nothing: it may have changed."""

    @classmethod
    def read(cls, settings: Mapping[str, Any]) -> "Parameters":
        """From the table `[policy.parameters]`; ValueError names what is wrong."""
        return msgspec.convert(dict(settings), cls)

    def to_native(self) -> dict[str, object]:
        return {
            **msgspec.structs.asdict(self),
            "near_bits": NEAR_BITS,
            "stale": round(self.stale * 1e6),
        }


STATES: Final = {
    "learnt": "changes nothing, so links lose it",
    "undone": "changed something after all, so links keep it",
    "kept": "stays, by command",
}
"""What may be found about a parameter, for people."""
