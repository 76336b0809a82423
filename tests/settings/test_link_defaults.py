"""Which suffixes are believed, given what is wanted."""

from gossamer.settings.link_defaults import SUFFIX_TYPES, skipped
from gossamer.settings.model import FetchSettings


def test_what_is_wanted_by_name_is_not_skipped():
    suffixes = list(SUFFIX_TYPES)
    assert skipped(suffixes, FetchSettings().types) == suffixes
    without = set(suffixes) - set(skipped(suffixes, ["application/pdf", "image/*"]))
    assert {"pdf", "png", "jpg", "svg"} <= without
    assert "zip" not in without
    # To want everything says nothing of a suffix.
    assert skipped(suffixes, []) == skipped(suffixes, ["*/*"]) == suffixes
    assert skipped(["PDF", "own"], ["application/pdf"]) == ["own"]


def test_source_and_data_are_judged_by_their_type():
    assert {"js", "css", "json", "xml", "txt", "py", "html", "php"}.isdisjoint(SUFFIX_TYPES)
