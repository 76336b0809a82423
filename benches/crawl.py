"""`gossamer crawl` with everything on, beside `wget2 -r`, on the same simulated web, in one run.

Everything on: robots, WARC files, fetch log, durable state, flushed to disk with every batch. wget2
writes its pages as files and keeps nothing else. Both may take as many connections as they like, no
delay; they run one after the other, in turns, against the same server.
"""

import itertools
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from gossamer.simweb import Options, serve

ROUNDS = 3
HOSTS = 400
PAGES = 20_000
THREADS = 32
BAR = 2.0
GOSSAMER = [sys.executable, "-m", "gossamer.cli.main"]

Row = dict[str, object]


def gossamer(url: str, out: Path, *options: str) -> dict[str, float]:
    """One crawl; gives what `--json` says, and the wall time of the whole process."""
    began = time.perf_counter()
    result = subprocess.run(
        [*GOSSAMER, "crawl", url, "--scope", "any", "--allow-private", "--out", str(out),
         "--json", *options],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    summary: dict[str, float] = json.loads(result.stdout.splitlines()[-1])
    summary["wall"] = time.perf_counter() - began
    return summary


def wget2(url: str, out: Path) -> tuple[int, float]:
    """Pages and seconds of wget2 following all links of the same web."""
    out.mkdir()
    began = time.perf_counter()
    subprocess.run(
        ["wget2", "-q", "-r", "-l", "inf", "-H", "--no-robots", f"--max-threads={THREADS}",
         "--tries=1", "--timeout=10", "-P", str(out), url],
        check=False, capture_output=True,
    )  # fmt: skip
    seconds = time.perf_counter() - began
    return sum(1 for file in out.rglob("*") if file.is_file()), seconds


def rate() -> list[Row]:
    """Pages/s with everything on, beside wget2."""
    ours, theirs = [], []
    # Hosts of equal size: with one connection per host, one huge host would set the pace.
    with serve(Options(port=0, hosts=HOSTS, pages=PAGES, host_skew=0.0)) as web:
        for _ in range(ROUNDS):
            with tempfile.TemporaryDirectory() as directory:
                summary = gossamer(web.url, Path(directory) / "out", "--delay", "0")
                if summary["pages"] != PAGES:
                    raise RuntimeError(f"{summary['pages']} pages instead of {PAGES}")
                ours.append(PAGES / summary["wall"])
                pages, seconds = wget2(web.url, Path(directory) / "wget2")
                theirs.append(pages / seconds)
    ratio = statistics.median(a / b for a, b in zip(ours, theirs, strict=True))
    return [
        {
            "what": f"crawl, everything on, {HOSTS} hosts, {PAGES} pages",
            "value": round(statistics.median(ours)),
            "unit": "pages/s",
            "beside": f"wget2 -r, {THREADS} threads: {statistics.median(theirs):.0f}",
            "ratio": round(ratio, 2),
            "bar": BAR,
        }
    ]


def politeness() -> list[Row]:
    """10,000 hosts with a gap and latency: bounded by politeness, not by the crawler."""
    hosts, pages, gap = 10_000, 60_000, 5.0
    options = Options(port=0, hosts=hosts, pages=pages, host_skew=0.0, latency="uniform:20ms,200ms")
    with serve(options) as web, tempfile.TemporaryDirectory() as directory:
        summary = gossamer(
            web.url, Path(directory) / "out", "--delay", f"{gap:.0f}s", "--set",
            "politeness.response_factor=0", "--set", "limits.time=75s", "--set", "alias.enabled=false",
        )  # fmt: skip
        lines = [
            json.loads(line)
            for file in sorted((Path(directory) / "out" / "log").iterdir())
            for line in file.read_text().splitlines()
        ]
    visits: dict[str, list[float]] = {}
    for line in lines:
        if line["status"]:
            visits.setdefault(line["host"], []).append(_seconds(line["time"]))
    # How late a host is visited after it may be: the crawler's own share of the wait.
    late = sorted(
        later - earlier - gap
        for times in visits.values()
        for earlier, later in itertools.pairwise(times)
    )
    return [
        {
            "what": f"{hosts} hosts, gap {gap:.0f} s, latency 20 to 200 ms: visits",
            "value": round(len(lines) / summary["seconds"]),
            "unit": "visits/s",
            "beside": f"the most that the gap allows: {hosts / (gap + 0.11):.0f}",
            "ratio": round(len(lines) / summary["seconds"] / (hosts / (gap + 0.11)), 2),
            "bar": None,
        },
        {
            "what": "the same: how late a host gets its turn, median",
            "value": round(statistics.median(late) * 1000),
            "unit": "ms",
            "beside": f"99 of 100 under {late[int(len(late) * 0.99)] * 1000:.0f} ms",
            "ratio": None,
            "bar": None,
        },
    ]


def _seconds(text: str) -> float:
    day, clock = text.rstrip("Z").split("T")
    hours, minutes, seconds = clock.split(":")
    return int(day[-2:]) * 86400 + int(hours) * 3600 + int(minutes) * 60 + float(seconds)


def run() -> list[Row]:
    if shutil.which("wget2") is None:
        raise RuntimeError("wget2 is not installed")
    return [*rate(), *politeness()]
