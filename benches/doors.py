"""What the doors cost: the same crawl with no Python policy, with a trivial one at every door, and with
the bodies of all pages given to Python. Run with `python -m benches doors`.

CPU time per page first: the machine is shared, so pages/s are not stable. The kinds run in turns against
one server. With `GOSSAMER_BEFORE=PATH` (another checkout that is set up) its crawl runs in the same turns:
the row "no policy beside an earlier build".
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benches.trivial_policies import ENTRY_POINTS
from gossamer.simweb import Options, serve

ROUNDS = 5
HOSTS = 400
PAGES = 20_000
BAR = 0.9
BAR_BEFORE = 0.97
ROOT = Path(__file__).parents[1]
EVERY_DOOR = [
    "--set", 'doors.pages=["trivial-pages"]', "--set", "doors.order=trivial-order",
    "--set", "doors.refresh=trivial-refresh", "--set", "doors.hosts=trivial-hosts",
]  # fmt: skip
BODIES = ["--set", 'doors.pages=["trivial-bodies"]']

Row = dict[str, object]


def crawl(python: str, path: list[Path], url: str, out: Path, *options: str) -> tuple[float, float]:
    """One crawl in a process of its own; gives CPU seconds and wall seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    subprocess.run(
        [python, "-m", "gossamer.cli.main", "crawl", url, "--scope", "any", "--allow-private",
         "--out", str(out), "--delay", "0s", "--json", *options],
        check=True, capture_output=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path))},
    )  # fmt: skip
    wall = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    lines = sum(
        sum(1 for line in file.open() if '"outcome":"fetched"' in line.replace(" ", ""))
        for file in (out / "log").iterdir()
    )
    if lines < PAGES:
        raise RuntimeError(f"{lines} pages instead of {PAGES} with {options}")
    return cpu, wall


def run() -> list[Row]:
    earlier = os.environ.get("GOSSAMER_BEFORE")
    kinds: dict[str, list[tuple[float, float]]] = {"none": [], "every": [], "bodies": []}
    if earlier:
        kinds["before"] = []
    options = Options(port=0, hosts=HOSTS, pages=PAGES, host_skew=0.0)
    with serve(options) as web, tempfile.TemporaryDirectory() as directory:
        installed = Path(directory) / "installed"
        info = installed / "trivial_policies-1.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(
            "Metadata-Version: 2.1\nName: trivial-policies\nVersion: 1\n"
        )
        (info / "entry_points.txt").write_text(ENTRY_POINTS)
        path = [installed, ROOT, ROOT / "src"]
        for number in range(ROUNDS):
            for kind, times in kinds.items():
                out = Path(directory) / f"{kind}{number}"
                if kind == "before":
                    there = Path(str(earlier))
                    python = str(there / ".venv" / "bin" / "python")
                    times.append(crawl(python, [there / "src"], web.url, out))
                else:
                    asked = {"none": [], "every": EVERY_DOOR, "bodies": BODIES}[kind]
                    times.append(crawl(sys.executable, path, web.url, out, *asked))
    rows = [
        _row("no Python policy", kinds["none"], kinds["none"], "", None),
        _row("a trivial policy at every door", kinds["every"], kinds["none"], "no policy", BAR),
        _row("bodies of all pages to Python", kinds["bodies"], kinds["none"], "no policy", None),
    ]
    if earlier:
        rows.append(
            _row(
                "no policy beside an earlier build",
                kinds["none"],
                kinds["before"],
                "it",
                BAR_BEFORE,
            )
        )
    return rows


def _row(
    what: str,
    ours: list[tuple[float, float]],
    theirs: list[tuple[float, float]],
    beside: str,
    bar: float | None,
) -> Row:
    """The ratio is that of the other's CPU per page to ours: 1 costs the same, 0.9 a tenth more."""
    cpu, other = (statistics.median(cpu for cpu, _ in times) for times in (ours, theirs))
    wall = statistics.median(wall for _, wall in ours)
    return {
        "what": f"{what}, {HOSTS} hosts, {PAGES} pages",
        "value": round(cpu / PAGES * 1e6),
        "unit": "µs CPU/page",
        "beside": f"{PAGES / wall:.0f} pages/s"
        + (f"; {beside}: {other / PAGES * 1e6:.0f} µs" if beside else ""),
        "ratio": round(other / cpu, 3) if beside else None,
        "bar": bar,
    }
