"""Every outcome and every error says what happened, why, and what to do; one list of words for each."""

import re

import pytest

from gossamer import errors
from gossamer.errors import GossamerError, UsageError
from gossamer.policy.hosts.outcomes import REACTIONS, Group, group
from gossamer.policy.rules.left_out import REASONS
from gossamer.settings.rows import rows

ERRORS = [
    kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, GossamerError)
]
GENERAL = {GossamerError, UsageError}
"""What to do is said where they are raised, each time another thing: see test_errors.py."""
NOTHING_TO_DO = {"deferred"}
"""It is queued, and the summary says how to go on."""


@pytest.mark.parametrize("name", REACTIONS)
def test_an_outcome_says_what_happened_and_what_to_do(name: str) -> None:
    reaction = REACTIONS[name]
    assert re.match(r"[a-z0-9]", reaction.meaning), "goes on after a colon"
    assert not reaction.meaning.endswith(".")
    if group(name) is not Group.DONE and name not in NOTHING_TO_DO:
        assert len(reaction.remedy) > 10
        assert not reaction.remedy.endswith(".")


@pytest.mark.parametrize("name", REASONS)
def test_a_link_that_is_not_followed_says_why_and_what_would_change_it(name: str) -> None:
    assert REASONS[name].meaning
    assert REASONS[name].change


@pytest.mark.parametrize("kind", ERRORS)
def test_an_error_says_what_its_kind_is_and_what_to_do(kind: type[GossamerError]) -> None:
    assert kind.__doc__
    if kind not in GENERAL:
        assert "remedy" in vars(kind), "of its own, not of the class above it"
        assert len(kind.remedy) > 10
        assert not kind.remedy.endswith(".")


def test_remedies_name_settings_that_there_are() -> None:
    known = {row.name for row in rows()}
    stages = {name.partition(".")[0] for name in known}
    texts = [one.remedy for one in REACTIONS.values()] + [kind.remedy for kind in ERRORS]
    for text in texts:
        named = re.findall(r"\b([a-z]+)\.([a-z_]+)", text)
        assert {f"{a}.{b}" for a, b in named if a in stages - {"policy"}} <= known, text
