"""Runs the benchmarks and prints one table: `python -m benches [NAME...]`, `python -m benches large`."""

import importlib
import json
import os
import platform
import sys
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

NAMES = ["surface", "simweb", "parse", "seen", "pool", "crawl", "doors", "cluster", "control"]
OUT = Path("bench-out")


def rows_of(name: str) -> list[dict[str, object]]:
    module = importlib.import_module(f"benches.{name}")
    return list(module.run_large() if name == "large" else module.run())


def show(console: Console, name: str, rows: list[dict[str, object]]) -> None:
    """One table for rows of the same columns."""
    kinds = dict.fromkeys(tuple(key for key in row if key != "bench") for row in rows)
    if name != "large":
        kinds = {tuple(dict.fromkeys(key for kind in kinds for key in kind)): None}
    for columns in kinds:
        table = Table(title=name, title_justify="left", title_style="bold")
        for column in columns:
            table.add_column(column, justify="left" if column in {"what", "beside"} else "right")
        for row in rows:
            if name != "large" or tuple(key for key in row if key != "bench") == columns:
                values = (row.get(column) for column in columns)
                table.add_row(*("" if value is None else str(value) for value in values))
        console.print(table)


def main() -> int:
    names = sys.argv[1:] or NAMES
    unknown = [name for name in names if name not in [*NAMES, "large"]]
    if unknown:
        print(f"benches: no benchmark is called {unknown[0]}; there are {', '.join(NAMES)}, large")
        return 2
    console = Console(width=250 if "large" in names else 150)
    OUT.mkdir(exist_ok=True)
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    console.print(f"{time.strftime('%Y-%m-%d')}  {machine}  load {os.getloadavg()[0]:.1f}")
    missed = []
    for name in names:
        console.print(f"… {name}")
        rows = rows_of(name)
        show(console, name, rows)
        (OUT / f"{name}.json").write_text(json.dumps(rows, indent=1))
        missed += [
            row
            for row in rows
            if isinstance(bar := row.get("bar"), int | float)
            and isinstance(ratio := row.get("ratio"), int | float)
            and ratio < bar
        ]
    for row in missed:
        console.print(f"below its bar: {row['what']}: {row['ratio']} instead of {row['bar']}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
