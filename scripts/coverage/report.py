"""Writes the page of coverage from what `run` measured: `report.py DATA PAGE`."""

import json
import sys
from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

HEAD = """# Coverage

Which lines the tests reach, measured by `make coverage` on {date}. A figure is no aim: it shows where
nobody looks.
"""
PYTHON = """
## Python

The tests that start no process (`make test-fast`), so what only runs in processes of its own (`cli/`, most of
`node/`) looks worse than it is.

"""
RUST = """
## Rust

The tests of the crates only (`cargo test`); what Python tests reach through the native module is not counted.

"""


class Lines(NamedTuple):
    covered: int
    all: int


def main() -> None:
    data, page = Path(sys.argv[1]), Path(sys.argv[2])
    text = HEAD.format(date=f"{datetime.now(UTC):%Y-%m-%d}")
    if (data / "python.json").exists():
        text += PYTHON + table("package", python((data / "python.json").read_text()))
    if (data / "rust.json").exists():
        text += RUST + table("folder", rust((data / "rust.json").read_text()))
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(text)
    sys.stdout.write(text)


def python(text: str) -> Iterable[tuple[str, Lines]]:
    for name, file in json.loads(text)["files"].items():
        summary = file["summary"]
        parts = Path(name.split("gossamer/", 1)[1]).parts
        group = f"{parts[0]}/" if len(parts) > 1 else "(the package itself)"
        yield group, Lines(summary["covered_lines"], summary["num_statements"])


def rust(text: str) -> Iterable[tuple[str, Lines]]:
    for file in json.loads(text)["data"][0]["files"]:
        lines = file["summary"]["lines"]
        crate, inside = file["filename"].split("/rust/", 1)[1].split("/src/", 1)
        parts = Path(inside).parts
        group = f"{crate}: {parts[0]}/" if len(parts) > 1 else f"{crate}"
        yield group, Lines(lines["covered"], lines["count"])


def table(what: str, rows: Iterable[tuple[str, Lines]]) -> str:
    sums: dict[str, Lines] = defaultdict(lambda: Lines(0, 0))
    for group, lines in rows:
        for name in (group, "**all**"):
            sums[name] = Lines(sums[name].covered + lines.covered, sums[name].all + lines.all)
    text = f"| {what} | lines | reached |\n|---|---|---|\n"
    for name, lines in sorted(sums.items()):
        share = 100 * lines.covered / lines.all if lines.all else 100.0
        text += f"| {name} | {lines.all} | {share:.1f} % |\n"
    return text


if __name__ == "__main__":
    main()
