"""What the tests of the pool share: settings, a look at threads, a judge of WARC files."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from pathlib import Path
from typing import Any

from warcio.archiveiterator import ArchiveIterator

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


def pool_threads() -> int:
    """Threads of pools in this process."""
    names = []
    for path in Path("/proc/self/task").glob("*/comm"):
        # Others may end while we look.
        with contextlib.suppress(OSError):
            names.append(path.read_text())
    return sum(name.startswith("gossamer-visit") for name in names)


# warcio meets brotli's present release with an error of its own; without brotli it reads the
# bytes as they are, which is what its check is about.
CHECK = "import sys; sys.modules['brotli'] = None; from warcio.cli import main; main()"


def check_warc(folder: Path) -> list[Path]:
    """The files of `folder`: all finished, and `warcio check` finds nothing to say."""
    files = finished(folder)
    if files:
        done = subprocess.run(
            [sys.executable, "-c", CHECK, "check", *map(str, files)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert "digest failed" not in done.stdout
    return files


def check_digests(folder: Path) -> list[Path]:
    """The same without a look into content codings, which warcio cannot read where they are broken."""
    files = finished(folder)
    for path in files:
        with path.open("rb") as file:
            for record in ArchiveIterator(file, check_digests="raise"):
                record.raw_stream.read()
    return files


def finished(folder: Path) -> list[Path]:
    files = sorted(folder.iterdir())
    assert all(path.name.endswith(".warc.gz") for path in files), files
    return files
