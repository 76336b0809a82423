"""For all tests: none is left out in silence, none blocks an event loop, none fails because the machine is busy."""

import os
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, settings
from tests.blocking import STARTUP, watch

# A generated example that takes long says something about the machine, not about what is tested.
settings.register_profile(
    "patient", settings.default, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("patient")


HERE: Final = Path(__file__).parent
SLOW: Final = (
    "browser/", "cluster/", "control/", "crawl/", "crawls/", "deploy/", "engine/",
    "native/test_cluster_nodes", "native/test_doors_", "native/test_fetch_", "native/test_node_rules",
    "native/test_pool", "native/test_robots_redirect",
)  # fmt: skip
"""What `--fast` leaves out: nearly all that is there starts processes, or waits for clocks and time-outs."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--fast",
        action="store_true",
        help="only the tests that start no process and wait for nothing",
    )


def pytest_configure() -> None:
    watch()
    # And in the processes that tests start.
    os.environ["GOSSAMER_TESTS"] = str(HERE.parent)
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(STARTUP), *([before] if before else [])])


def forbid_processes() -> None:
    """What starts a process all the same is skipped there and then, and counted as such."""

    def refuse(*_: Any, **__: Any) -> None:
        pytest.skip("starts a process, which --fast leaves out")

    subprocess.Popen.__init__ = refuse  # type: ignore[method-assign]


def is_slow(item: pytest.Item) -> bool:
    place = item.path.relative_to(HERE).as_posix()
    return place.startswith(SLOW)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--fast"):
        forbid_processes()
        config.hook.pytest_deselected(items=[item for item in items if is_slow(item)])
        items[:] = [item for item in items if not is_slow(item)]
    # Side by side, tests are told apart by name: of several with one name a single one would run.
    if not hasattr(config, "workerinput"):
        return
    twice = [name for name, count in Counter(item.nodeid for item in items).items() if count > 1]
    if twice:
        raise pytest.UsageError(f"several tests have one name, run them alone: {twice}")
