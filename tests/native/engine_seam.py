"""What the tests of the engine share: settings, a look at threads, a judge of WARC files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from gossamer.settings import CrawlSettings


def settings(*, fsync: str = "never", **fetch: Any) -> CrawlSettings:
    """Every link counts, as it is written; loopback may be visited."""
    return CrawlSettings.model_validate(
        {
            "scope": {"kind": "any"},
            "canonical": {"strip_parameters": [], "strip_sessions": []},
            "store": {"fsync": fsync},
            "fetch": {"allow_private": True, **fetch},
        }
    )


def engine_threads() -> int:
    """Threads of engines in this process."""
    names = [path.read_text().strip() for path in Path("/proc/self/task").glob("*/comm")]
    return sum(name.startswith("gossamer-visit") for name in names)


def check_warc(folder: Path) -> list[Path]:
    """The files of `folder`: all finished, and `warcio check` finds nothing to say."""
    files = sorted(folder.iterdir())
    assert files
    assert all(path.name.endswith(".warc.gz") for path in files), files
    done = subprocess.run(
        [sys.executable, "-m", "warcio.cli", "check", *map(str, files)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "digest failed" not in done.stdout
    return files
