"""Declared = documented = tested: lists that stand in two places are compared."""

from gossamer import _native
from gossamer.policy.hosts.outcomes import REACTIONS


def test_every_native_outcome_has_a_policy_and_no_other():
    assert list(REACTIONS) == _native.outcome_names()
