"""The test package, installed as pip does it, in a directory of its own and without a network."""

import os
import subprocess
import sys
from pathlib import Path

PACKAGE = Path(__file__).parent / "gossamer-test-policies"


def install(target: Path) -> Path:
    """Puts the package below `target`; processes find it with that directory in PYTHONPATH."""
    done = subprocess.run(
        [
            sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
            "--no-index", "--no-deps", "--no-build-isolation", "--no-cache-dir",
            "--target", str(target), str(PACKAGE),
        ],
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return target


def path_with(directory: Path) -> str:
    """PYTHONPATH with a directory before what is there: the watch for blocking calls stays."""
    before = os.environ.get("PYTHONPATH")
    return os.pathsep.join([str(directory), *([before] if before else [])])
