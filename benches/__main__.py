"""Runs the benchmarks and prints one table: `python -m benches [NAME...]`.

`python -m benches large [PART...]` runs those that take minutes to hours, see `benches.large`.
"""

import argparse
import importlib
import json
import os
import platform
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.table import Table

NAMES = ["surface", "simweb", "parse", "seen", "pool", "crawl", "doors", "cluster", "control"]
LARGE = "large"
PARTS = ["seen", "queue", "rows", "crawl"]
OUT = Path("bench-out")

Row = dict[str, object]


def results(arguments: argparse.Namespace) -> Iterator[tuple[str, list[Row]]]:
    """What each benchmark found, as soon as it is done."""
    for name in arguments.names:
        module = importlib.import_module(f"benches.{name}")
        if name == LARGE:
            for rows in module.run_parts(arguments.parts, arguments.urls, arguments.pages):
                yield name, rows
        else:
            yield name, list(module.run())


def show(console: Console, name: str, rows: list[Row]) -> None:
    """One table for rows of the same columns."""
    kinds = dict.fromkeys(tuple(key for key in row if key != "bench") for row in rows)
    if name != LARGE:
        kinds = {tuple(dict.fromkeys(key for kind in kinds for key in kind)): None}
    for columns in kinds:
        table = Table(title=name, title_justify="left", title_style="bold")
        for column in columns:
            table.add_column(column, justify="left" if column in {"what", "beside"} else "right")
        for row in rows:
            if name != LARGE or tuple(key for key in row if key != "bench") == columns:
                values = (row.get(column) for column in columns)
                table.add_row(*("" if value is None else str(value) for value in values))
        console.print(table)


def keep(name: str, rows: list[Row]) -> None:
    """Writes the rows down; of a part of the large ones, beside those of the other parts."""
    path = OUT / f"{name}.json"
    others: list[Row] = []
    if name == LARGE and path.exists():
        now = {row.get("bench") for row in rows}
        others = [row for row in json.loads(path.read_text()) if row.get("bench") not in now]
    path.write_text(json.dumps([*others, *rows], indent=1))


def missed(row: Row) -> str | None:
    """What a row should have been: `ratio` at least its `bar`, `value` at most its `most`."""
    for name, limit, sign, words in (("ratio", "bar", 1, "below"), ("value", "most", -1, "above")):
        value, bar = row.get(name), row.get(limit)
        if (
            isinstance(value, int | float)
            and isinstance(bar, int | float)
            and sign * value < sign * bar
        ):
            return f"{words} its bar: {row['what']}: {value} instead of {bar}"
    return None


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benches", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(NAMES)}, {LARGE}")
    parser.add_argument("--urls", type=int, help="of the large ones: URLs known at the end")
    parser.add_argument("--pages", type=int, help="of the large ones: pages visited")
    arguments = parser.parse_args()
    names = arguments.names or NAMES
    arguments.parts = []
    if LARGE in names:
        at = names.index(LARGE) + 1
        names, arguments.parts = names[:at], names[at:]
    arguments.names = names
    for known, asked in (([*NAMES, LARGE], names), (PARTS, arguments.parts)):
        for name in asked:
            if name not in known:
                parser.error(f"no benchmark is called {name}; there are {', '.join(known)}")
    return arguments


def main() -> int:
    arguments = parse()
    console = Console(width=320 if LARGE in arguments.names else 150)
    OUT.mkdir(exist_ok=True)
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    console.print(f"{time.strftime('%Y-%m-%d')}  {machine}  load {os.getloadavg()[0]:.1f}")
    console.print(f"… {' '.join([*arguments.names, *arguments.parts])}")
    failures = []
    for name, rows in results(arguments):
        show(console, name, rows)
        keep(name, rows)
        failures += [text for row in rows if (text := missed(row))]
    for text in failures:
        console.print(text)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
