"""`python -m tests.realweb [APP...]`: fills and serves real webs, crawls them, prints the table.

Exit code 1: nothing could be crawled, or gossamer missed a goal (`goals.py`) in an application.
"""

import argparse
import json
import shutil
import signal
import sys
from pathlib import Path

from rich.console import Console
from tests.realweb.alone import alone
from tests.realweb.crawlers import CRAWLERS
from tests.realweb.goals import missed
from tests.realweb.install import install
from tests.realweb.report import as_json, machine, markdown, table
from tests.realweb.run import crawled, keep_serving, known, prepared

LIMIT = 600.0
TOOLS = {"nginx": "nginx-light", "wget2": "wget2"}
"""Programs that every run needs, and the packages that bring them."""


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.realweb", description=__doc__)
    parser.add_argument(
        "apps", nargs="*", metavar="APP", help=f"of {', '.join(known())}; all by default"
    )
    parser.add_argument(
        "--crawler", default=",".join(CRAWLERS), help="all by default, separated by commas"
    )
    parser.add_argument("--small", action="store_true", help="some 50 to 150 content pages each")
    parser.add_argument("--time-limit", type=float, default=LIMIT, metavar="S", help="for a crawl")
    parser.add_argument("--json", type=Path, metavar="FILE", help="the figures for programs")
    parser.add_argument("--write", type=Path, metavar="FILE", help="the table as Markdown")
    parser.add_argument(
        "--patterns",
        type=int,
        default=0,
        metavar="N",
        help="the N commonest requests that are not content",
    )
    parser.add_argument(
        "--keep", type=Path, metavar="FOLDER", help="keep logs and output of the crawlers there"
    )
    parser.add_argument("--keep-serving", action="store_true", help="no crawl: serve until Ctrl-C")
    given = parser.parse_args()
    for name in given.apps:
        if name not in known():
            parser.error(f"no application is called {name}")
    for name in given.crawler.split(","):
        if name not in CRAWLERS:
            parser.error(f"no crawler is called {name}")
    return given


def main() -> int:
    given = arguments()
    # A time limit of the caller ends as Ctrl-C does: with every process stopped.
    # Both are set, because a shell starts what runs in the background with Ctrl-C ignored.
    for stopping in (signal.SIGINT, signal.SIGTERM):
        signal.signal(stopping, signal.default_int_handler)
    console = Console(width=150)
    console.print(machine())
    names = given.apps or list(known())
    with alone([known()[name] for name in names], console):
        return run(given, names, console)


def run(given: argparse.Namespace, names: list[str], console: Console) -> int:
    for program, deb in TOOLS.items():
        if shutil.which(program) is None and not Path("/usr/sbin", program).exists():
            install((deb,))
    ready, skipped = prepared(names, given.small, console)
    if not ready:
        return 1
    if given.keep_serving:
        keep_serving(ready, console)
    rows, left_out = crawled(
        ready, given.crawler.split(","), console,
        keep=given.keep, limit=given.time_limit, shown=given.patterns,
    )  # fmt: skip
    console.print(table(rows))
    if given.json:
        given.json.write_text(json.dumps(as_json(rows), indent=1))
    if given.write:
        command = f"python -m tests.realweb {' '.join(sys.argv[1:])}"
        notes = sorted({*skipped, *left_out})
        given.write.write_text(markdown(rows, notes, command, given.time_limit))
    short = missed(rows)
    for line in short:
        console.print(f"missed: {line}", markup=False)
    return 1 if short else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
