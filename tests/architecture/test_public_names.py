"""What a Python user may rely on: the public names, written down here once more."""

import subprocess
import sys

import gossamer

PUBLIC = [
    "Batch",
    "Formula",
    "GossamerError",
    "HostDecisions",
    "HostsPolicy",
    "NextVisits",
    "OrderPolicy",
    "PageDecisions",
    "PagesPolicy",
    "PolicyError",
    "RefreshPolicy",
    "Scores",
    "SettingsError",
    "UsageError",
    "__version__",
]


def test_the_public_names_are_these_and_no_other() -> None:
    assert sorted(gossamer.__all__) == sorted(PUBLIC)
    assert all(hasattr(gossamer, name) for name in PUBLIC)


def test_importing_gossamer_is_cheap() -> None:
    """Whoever only wants a name does not load the servers, the engine or the native module."""
    heavy = ["nats", "fastapi", "uvicorn", "numpy", "pydantic", "gossamer.control"]
    code = f"import sys, gossamer; print([name for name in {heavy} if name in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
