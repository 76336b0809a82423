"""URL patterns: which are worth their visits, told by what the visits brought.

The visits of a host are counted by URL pattern (`/wiki/*?action=edit`): how many brought a page that was
new, one without new text, a copy, a page that says `noindex` or names another URL as its own, a redirect, an
error. A pattern that brings little is *doubted*: its URLs come behind everything else of the host. One of which
nothing is hoped has a share of the host's visits (`limits.doubted_visits`, `limits.doubted_share`); the rest is *set
aside*, counted and listed, until its visits bring something again or somebody takes it up (`gossamer patterns`). So is
a family of URLs that goes on for ever. Nothing is refused by its look: a shape that endless families often have is only a
hint, which asks for evidence earlier.

The evidence is gathered natively (`rust/core/src/links/patterns`); what it means is said here. Change a
number in the table `[policy.patterns]`.
"""

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec

from gossamer.settings.model import LimitSettings

Count = Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]
Segments = Annotated[int, msgspec.Meta(ge=1, le=64)]
Share = Annotated[float, msgspec.Meta(ge=0.0, le=1.0)]


class Patterns(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """When a pattern is doubted."""

    visits: Count = 10
    """Visits before a pattern can be doubted. Measured on crawls of two wikis, a forum, a blog and a directory
    listing: after ten pages content and junk are apart."""
    visits_hinted: Count = 8
    """The same for a pattern with a hint (below)."""
    visits_known: Count = 3
    """The same where it is doubted on `known_hosts` other hosts: software is the same everywhere."""
    known_hosts: Count = 2
    memory: Annotated[float, msgspec.Meta(ge=1.0, le=100_000.0)] = 32.0
    """The last so many visits count most: a pattern that begins to bring something comes back."""
    low: Share = 0.25
    """A pattern is doubted when the mean value of its visits is below this. A visit that brings a new page has the value 1."""
    high: Share = 0.5
    """A doubted pattern has its usual place again when the mean value is above this."""
    behind: Share = 0.35
    """A URL whose pattern promises less than this comes behind the others of its host: a list of pages that are worth something, and a part
    of a larger page, do not."""
    novel: Share = 0.3
    """A page has the whole value if this share of its text is new on its host, less if less is: navigation, forms, sort orders, printed
    and raw views repeat what is known. The pages of a long topic are alike by their frame, and new by their text."""
    novel_file: Share = 0.75
    """The same for what is no page (a raw view, a feed), which has no frame. It has no value if less than a third of this is new: the rest
    is a page once more, with a head."""
    hub_value: Share = 0.6
    """The value of a visit that brings no page but leads to new URLs of other patterns that are not doubted (a list of
    posts that says `noindex`), times the share of such URLs that were worth their visit."""
    part_value: Share = 0.4
    """The value of a visit that brings a part of one larger page, such as a message that is also in its thread: known text, and yet a page of
    its own."""
    marked_value: Share = 0.4
    """The value of a page that says `noindex` or names another URL as its own, times the share of its text that is new: what the site says
    is one sign, and the text another. Some sites say so of all their pages."""
    view_value: Share = 0.7
    """What looks like a view of a page (`/ID/raw`, `/ID?print`) promises this share of what its visits were worth, and before any not more than
    `behind`, so that the page comes first."""
    label_share: Share = 0.8
    """What so many of its links call by the same text (*raw*, *history*, *reply*) looks like a view of something else, too: a page is linked by its
    title. Of two patterns that bring little, the one that looks like a view comes behind the other."""
    list_links: Count = 8
    """A page of a list leads to so many further ones at most. A list that brings something is followed whatever else has its pattern."""
    hopeless_visits: Count = 50
    """A doubted pattern is hopeless after so many visits (`word_visits` where it is doubted on `known_hosts` other hosts) …"""
    plain_weight: Annotated[float, msgspec.Meta(ge=1.0, le=100.0)] = 3.0
    """… of which those count so many times that the site calls worthless itself (`noindex`, another canonical URL, a redirect) or that brought
    an exact copy or a soft 404, …"""
    hopeless: Share = 0.08
    """… if at most this share of all of them was worth something. URLs of it are set aside when it has had its share; of others all
    are visited, last, as far as the budgets below go."""
    pattern_share: Share = 0.02
    """A hopeless pattern has this share of the host's useful visits before the next is set aside: the more there is of a site, the more
    evidence."""
    contrast: Annotated[float, msgspec.Meta(ge=0.0, le=1000.0)] = 0.5
    """Nothing is hopeless on a host that had fewer useful visits than this for each visit of it, of which `hopeless_visits` and no copies count:
    where all of a site looks worthless it is the measure that does not fit …"""
    overwhelming: Count = 1000
    """… unless it had so many visits."""
    worthless_visits: Count = 2000
    """All that is doubted on a host, hopeless or not, has so many visits that bring nothing, or …"""
    worthless_share: Annotated[float, msgspec.Meta(ge=0.0, le=1000.0)] = 2.0
    """… this share of the host's useful visits, whichever is more; then what promises less than `low` is set aside: a repository browser
    shows every file of every version in six ways, and a crawl of it has to end."""
    side_visits: Count = 500
    """The same two for what looks like a view of something else, counted apart. What is set aside for either comes back when the host turns out to
    be larger."""
    side_share: Annotated[float, msgspec.Meta(ge=0.0, le=1000.0)] = 0.5
    word_visits: Count = 16
    """Visits before a word of the path or a parameter can be doubted, whatever the pattern around it …"""
    word_good: Share = 0.15
    """… if at most this share of them brought something new, while others of the host did."""
    self_fed: Share = 0.9
    """A family with a hint is endless if this share of its URLs was found on its own pages, if it leads to hardly anything
    else …"""
    ends: Share = 0.1
    """… and if at most this share of its pages leads to no further one (a tree of folders has ends), …"""
    span: Count = 12
    """… over so many links from page to page (real trees of folders are hardly deeper), …"""
    known_links: Share = 0.5
    """… and at most this share of their links was known (the pages of a manual link to each other)."""
    long_path: Segments = 7
    """Hint: a path of so many segments."""
    grown_path: Segments = 2
    """Hint: a path of so many segments which is that of the page that led to it and one more folder; or such a query with one
    more parameter."""
    repeats: Segments = 3
    """Hint: a run of segments that is repeated this often in a row, as a relative link that grows makes it."""
    longest_run: Segments = 3
    """Runs of up to so many segments are looked for: such a link repeats the folders that it names."""
    crowded_query: Count = 4
    """Hint: a query of so many parameters."""
    years_ahead: Count = 1
    """Hint: a date, by year and month. A family of dates is endless when it goes further than so many years ahead: nobody
    writes pages for that time, they are made as they are asked for. The past has archives, and ends."""
    token: Count = 16
    """Hint: a parameter with a value of so many letters and digits, as session ids have."""

    @classmethod
    def read(cls, settings: Mapping[str, Any]) -> "Patterns":
        """From the table `[policy.patterns]`; ValueError names what is wrong."""
        return msgspec.convert(dict(settings), cls)

    def to_native(self, limits: LimitSettings) -> dict[str, object]:
        values = msgspec.structs.asdict(self)
        hints = {name: values.pop(name) for name in HINTS}
        return {
            **values,
            "hints": hints,
            "base": limits.doubted_visits,
            "share": limits.doubted_share,
        }


HINTS = (
    "long_path",
    "grown_path",
    "repeats",
    "longest_run",
    "crowded_query",
    "years_ahead",
    "token",
)
