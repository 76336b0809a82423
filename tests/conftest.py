"""For all tests: none is left out in silence, none fails because the machine is busy."""

from collections import Counter

import pytest
from hypothesis import HealthCheck, settings

# A generated example that takes long says something about the machine, not about what is tested.
settings.register_profile(
    "patient", settings.default, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("patient")

AT_LAST = 400
"""Seconds after which a test hangs, and is not just slow on a machine that has other things to do."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(AT_LAST))
    # Side by side, tests are told apart by name: of several with one name a single one would run.
    if not hasattr(config, "workerinput"):
        return
    twice = [name for name, count in Counter(item.nodeid for item in items).items() if count > 1]
    if twice:
        raise pytest.UsageError(f"several tests have one name, run them alone: {twice}")
