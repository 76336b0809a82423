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
    # Each host has more pages than it may be asked for in this time: none runs dry.
    hosts, pages, gap, length = 10_000, 200_000, 5.0, 90
    options = Options(port=0, hosts=hosts, pages=pages, host_skew=0.0, latency="uniform:20ms,200ms")
    with serve(options) as web, tempfile.TemporaryDirectory() as directory:
        gossamer(
            web.url, Path(directory) / "out", "--delay", f"{gap:.0f}s", "--set",
            "politeness.response_factor=0", "--set", f"limits.time={length}s", "--set",
            "alias.enabled=false",
        )  # fmt: skip
        visits: dict[str, list[tuple[float, float]]] = {}
        for file in sorted((Path(directory) / "out" / "log").iterdir()):
            for text in file.read_text().splitlines():
                line = json.loads(text)
                if line["status"]:
                    began = _seconds(line["time"])
                    visits.setdefault(line["host"], []).append((began, began + line["ms"] / 1000))
    if len(visits) != hosts:
        raise RuntimeError(f"{len(visits)} of {hosts} hosts were found in {length} s")
    first = min(times[0][0] for times in visits.values())
    known = max(times[0][0] for times in visits.values())
    what = f"{hosts} hosts, gap {gap:.0f} s, latency 20 to 200 ms"
    return [
        *_polite(
            f"{what}, every host known (after {known - first:.0f} s)", visits, gap, known, 0.95
        ),
        *_polite(f"{what}, from the one seed on ({length} s)", visits, gap, first, None),
    ]


def _polite(
    what: str,
    visits: dict[str, list[tuple[float, float]]],
    gap: float,
    since: float,
    bar: float | None,
) -> list[Row]:
    """The rate from a moment on, beside what the gaps allow, and the crawler's share of each wait.

    A gap runs from the end of a visit to the start of the next, so a host allows one visit in
    gap + response time.
    """
    end = max(times[-1][0] for times in visits.values())
    count = sum(since <= began <= end for times in visits.values() for began, _ in times)
    allowed = sum(
        1 / (gap + statistics.fmean(ended - began for began, ended in times))
        for times in visits.values()
    )
    late = sorted(
        later[0] - earlier[1] - gap
        for times in visits.values()
        for earlier, later in itertools.pairwise(times)
        if later[0] >= since
    )
    at = {share: round(late[int(len(late) * share / 100)] * 1000) for share in (50, 99)}
    return [
        {
            "what": f"{what}: visits",
            "value": round(count / (end - since)),
            "unit": "visits/s",
            "beside": f"the most that the gaps allow: {allowed:.0f}",
            "ratio": round(count / (end - since) / allowed, 3),
            "bar": bar,
        },
        {
            "what": "the same: how late a host gets its turn, median",
            "value": at[50],
            "unit": "ms",
            "beside": f"99 of 100 under {at[99]} ms, the latest {late[-1] * 1000:.0f} ms",
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
