"""Declared = documented = tested: lists that stand in two places are compared."""

import re

from gossamer import _native
from gossamer.policy.hosts.outcomes import REACTIONS
from gossamer.policy.rules.left_out import REASONS
from gossamer.settings.rows import rows


def test_every_native_outcome_has_a_policy_and_no_other():
    assert list(REACTIONS) == _native.outcome_names()


def test_every_reason_why_a_link_is_left_out_has_a_meaning():
    assert list(REASONS) == _native.left_out_names()


def test_what_would_change_a_reason_are_settings_that_there_are():
    known = {row.name for row in rows()}
    stages = {name.partition(".")[0] for name in known}
    for reason in REASONS.values():
        named = re.findall(r"\b([a-z]+)\.([a-z_]+)", reason.change)
        settings = {f"{stage}.{name}" for stage, name in named if stage in stages - {"policy"}}
        assert settings <= known
