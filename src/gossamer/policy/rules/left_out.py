"""Links that are not followed: what each reason means, and what would change it.

The list itself stands in native code (`rust/core/src/links/left_out.rs`), which counts; a test compares the two.
"""

from typing import Final, NamedTuple


class LeftOut(NamedTuple):
    """A reason, for people."""

    meaning: str
    change: str
    """The setting or command that would have them followed; empty: none."""


REASONS: Final[dict[str, LeftOut]] = {
    "nofollow": LeftOut(
        "the site marks the link, or its whole page, nofollow", "scope.nofollow=false"
    ),
    "other_site": LeftOut(
        "shares nothing with a seed",
        "its site as a seed; in a new crawl scope.kind (--scope domain, any), which holds for pages that are read then",
    ),
    "scheme": LeftOut("mailto:, javascript: and other schemes", "scope.schemes (http and https)"),
    "suffix": LeftOut(
        "a file suffix of something that is not wanted", "fetch.types, or scope.skip_suffixes"
    ),
    "not_included": LeftOut("matches no expression that it must match", "scope.include"),
    "excluded": LeftOut("matches an expression that it must not match", "scope.exclude"),
    "blocked": LeftOut("its host or domain is blocked", "scope.block, or `gossamer unblock`"),
    "too_deep": LeftOut("lies in too many folders of its site", "limits.site_depth"),
    "url_refused": LeftOut("no URL that could be fetched", "canonical.max_length, if it is long"),
    "relation": LeftOut(
        "a <link> to no page: a feed, a short link, an interface", "scope.relations"
    ),
    "cut": LeftOut("its page, or sitemap, has more links than are read", "parse.links_bytes"),
    "rule": LeftOut("a rule says not to follow the links of its page", "the rule's `follow`"),
    "page_type": LeftOut("its page is of a type not read for links", "fetch.follow_types"),
    "copy": LeftOut("its page is a copy of another", "policy.duplicates follow_links=true"),
    "redirects": LeftOut("after too many redirects from a seed", "scope.seed_redirects"),
    "parameter": LeftOut(
        "followed without a parameter that changes nothing on its host",
        "`gossamer patterns DIR --take-up HOST --pattern '?NAME'`, or policy.parameters",
    ),
}
"""In the order of the native list."""


def left_out(name: str) -> LeftOut:
    """A reason by its name; also one that a crawl of another version has."""
    return REASONS.get(name, _UNKNOWN)


_UNKNOWN: Final = LeftOut("a reason of another version", "")
