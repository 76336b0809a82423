"""Real crawls of the simulated web, for tests of what reads a crawl's files."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gossamer.simweb import Options, serve, truth


@dataclass(frozen=True)
class Crawl:
    """A crawl's directory and what is true of the web it crawled."""

    out: Path
    options: Options

    @property
    def rows(self) -> list[Any]:
        return list(truth(self.options).rows())

    def copy(self, to: Path) -> "Crawl":
        shutil.copytree(self.out, to)
        return Crawl(to, self.options)

    def log_file(self) -> Path:
        (file,) = (self.out / "log").glob("*.jsonl")
        return file

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log_file().read_text().splitlines()]

    def change(self, change: Callable[[list[dict[str, Any]]], None]) -> None:
        """Rewrites the log."""
        lines = self.lines()
        change(lines)
        self.log_file().write_text("".join(json.dumps(line) + "\n" for line in lines))

    def warc(self) -> Path:
        (file,) = (self.out / "warc").glob("*.warc.gz")
        return file


def gossamer(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gossamer.cli.main", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def crawl(out: Path, arguments: tuple[str, ...] = (), **options: Any) -> Crawl:
    """Crawls a simulated web to its end."""
    defaults: dict[str, Any] = {"hosts": 6, "pages": 90, "port": 0}
    with serve(Options(**defaults | options)) as web:
        done = gossamer(
            "crawl", web.url, "--scope", "any", "--delay", "50ms", "--allow-private",
            "--out", out, "--set", "politeness.retry_wait=1s",
            "--set", "politeness.robots_patience=3s", *arguments,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return Crawl(out, web.options)
