"""Real crawls of the simulated web, for tests of what reads a crawl's files."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
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

    def stretch(self, length: timedelta) -> tuple[datetime, datetime]:
        """Moves the visits of the log apart, so that they took so long; gives when they began and ended."""
        file = self.log_file()
        texts = file.read_text().splitlines(keepends=True)
        old = [line["time"] for line in self.lines()]
        begin = datetime.fromisoformat(old[0])
        new = [begin + length * number / len(old) for number in range(len(old))]
        # As long as before: the state knows the length of the log.
        rows = zip(texts, old, new, strict=True)
        file.write_text(
            "".join(
                text.replace(time, f"{moment:%Y-%m-%dT%H:%M:%S.%f}Z") for text, time, moment in rows
            )
        )
        return begin, new[-1]

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
