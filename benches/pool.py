"""The pool's whole visit (fetch, parse, links, WARC) beside `wget2 -r` and `wrk`, same pages.

One simulated web without misbehaviour (20 KB pages, about 50 links), served by one worker in a
process of its own; all clients share the machine with it in the same way. The runs alternate and
the median counts. wget2 finds the pages by itself, writes them to the same disk and may use 32
connections; robots files and every kind of cache are off. wrk only receives. The pool gets the
list of URLs, a host after the other in turn, extracts and resolves every link, and writes WARC files.
Run with `python -m benches.pool`.
"""

import asyncio
import itertools
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from benches.simweb import free_port, wait_for
from gossamer._native import Fetcher, WarcWriter, parse_rounds
from gossamer.node.visits import Visits
from gossamer.settings import CrawlSettings
from gossamer.simweb import Options, truth

HOSTS = 200
PAGES = int(os.environ.get("BENCH_ENGINE_PAGES", "20000"))
ROUNDS = 3
CONNECTIONS = 32
WRK_SECONDS = 4
SAMPLE = 1_000
BAR = 3.0

WGET2 = [
    "wget2", "--no-config", "--quiet", "--recursive", "--level=0", "--span-hosts",
    f"--max-threads={CONNECTIONS}", "--robots=off", "--tries=1", "--no-check-hostname",
    "--hsts=off", "--cookies=off", "--compression=identity",
]  # fmt: skip

# Every request names its host, so that one connection can ask for the pages of all of them.
SCRIPT = """
local requests = {{}}
local at = 0
function init(args)
  for line in io.lines("{paths}") do
    local host, path = line:match("(%S+) (%S+)")
    requests[#requests + 1] = wrk.format("GET", path, {{["Host"] = host}})
  end
end
function request()
  at = at % #requests + 1
  return requests[at]
end
"""


@contextmanager
def simweb(options: Options) -> Iterator[None]:
    command = [sys.executable, "-m", "gossamer.cli.main", "simweb", "serve"]
    size = [f"--port={options.port}", f"--hosts={options.hosts}", f"--pages={options.pages}"]
    size.append(f"--host-skew={options.host_skew}")
    with subprocess.Popen([*command, *size], stdout=subprocess.DEVNULL) as server:
        try:
            wait_for("127.1.1.1", options.port)
            yield
        finally:
            server.terminate()


def in_turn(urls: list[str]) -> list[str]:
    """A URL of each host in turn, as a frontier gives them: one connection to a host at a time."""
    by_host: dict[str, list[str]] = {}
    for url in urls:
        by_host.setdefault(urlsplit(url).netloc, []).append(url)
    rounds = itertools.zip_longest(*by_host.values())
    return [url for group in rounds for url in group if url is not None]


def settings() -> CrawlSettings:
    return CrawlSettings.model_validate(
        {
            "scope": {"kind": "any"},
            "store": {"fsync": "never"},
            "fetch": {"allow_private": True, "concurrency": CONNECTIONS},
        }
    )


async def visit_all(urls: list[str], warc: Path | None) -> tuple[int, int]:
    """Pages and links."""
    pages = links = 0
    async with Visits(settings(), warc) as visits:
        async for batch in visits.visit(urls):
            pages += sum(visited.outcome == "fetched" for visited in batch)
            # Looking at one batch's links in Python is enough to see that they are there.
            links = links or sum(len(visited.links) for visited in batch)
    return pages, links


def pool(urls: list[str], folder: Path) -> tuple[float, float]:
    """Pages/s, and seconds of CPU per page in this process."""
    folder.mkdir()
    begun, cpu = time.perf_counter(), time.process_time()
    pages, links = asyncio.run(visit_all(urls, folder))
    took, used = time.perf_counter() - begun, time.process_time() - cpu
    if pages != len(urls) or not links:
        raise RuntimeError(f"the pool got {pages} of {len(urls)} pages")
    shutil.rmtree(folder)
    return pages / took, used / pages


def wget2(start: str, pages: int, folder: Path) -> float:
    """Pages/s."""
    folder.mkdir()
    begun = time.perf_counter()
    subprocess.run([*WGET2, f"--directory-prefix={folder}", start], check=False)
    took = time.perf_counter() - begun
    got = sum(len(files) for _, _, files in os.walk(folder))
    shutil.rmtree(folder)
    if got < 0.95 * pages:
        raise RuntimeError(f"wget2 got {got} of {pages} pages")
    return got / took


def wrk(urls: list[str], folder: Path) -> float:
    """Requests/s."""
    paths = folder / "paths"
    parts = [urlsplit(url) for url in urls]
    # The truth lists the hosts in the order of their numbers.
    numbers = {netloc: n for n, netloc in enumerate(dict.fromkeys(u.netloc for u in parts))}
    lines = [f"h{numbers[u.netloc]}.sim.test {u.path}{'?' * bool(u.query)}{u.query}" for u in parts]
    paths.write_text("\n".join(lines) + "\n")
    script = folder / "paths.lua"
    script.write_text(SCRIPT.format(paths=paths))
    command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{WRK_SECONDS}s", "-s", str(script), urls[0]]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    rate = re.search(r"Requests/sec:\s+([\d.]+)", done.stdout)
    if rate is None or "Non-2xx" in done.stdout:
        raise RuntimeError(done.stdout)
    return float(rate[1])


def steps(urls: list[str], folder: Path) -> dict[str, float]:
    """Seconds of CPU per page of each step alone, on a sample of the same pages."""
    sample = urls[:: max(1, len(urls) // SAMPLE)][:SAMPLE]
    fetcher = Fetcher({"allow_private": True})
    fetcher.fetch(sample, concurrency=CONNECTIONS)
    begun = time.process_time()
    responses = fetcher.fetch(sample, concurrency=CONNECTIONS)
    fetching = time.process_time() - begun
    bodies = [response.body for response in responses]
    request, head = b"GET / HTTP/1.1\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"

    def parsing(*, resolve: bool) -> float:
        rounds = []
        for _ in range(3):
            begun = time.process_time()
            parse_rounds(bodies, sample[0], 1, resolve=resolve)
            rounds.append(time.process_time() - begun)
        return min(rounds)

    parse, both = parsing(resolve=False), parsing(resolve=True)
    writer = WarcWriter(folder / "steps", fsync_ms=None)
    begun = time.process_time()
    for url, body in zip(sample, bodies, strict=True):
        writer.append_visit(url, 1_763_233_422_000_000, request, head, body)
    writing = time.process_time() - begun
    writer.close()
    count = len(sample)
    return {
        "fetch: connection, HTTP, waiting": fetching / count,
        "parse: charset, tokens, text, SimHash": parse / count,
        "links: canonical form": max(both - parse, 0.0) / count,
        "store: digest, compression, WARC file": writing / count,
    }


def run() -> list[dict[str, object]]:
    options = Options(hosts=HOSTS, pages=PAGES, host_skew=0.0, port=free_port())
    urls = in_turn(truth(options).urls)
    pools: list[tuple[float, float]] = []
    wgets: list[float] = []
    wrks: list[float] = []
    with tempfile.TemporaryDirectory() as name, simweb(options):
        folder = Path(name)
        for _ in range(ROUNDS):
            wrks.append(wrk(urls, folder))
            pools.append(pool(urls, folder / "warc"))
            wgets.append(wget2(urls[0], len(urls), folder / "wget2"))
        (folder / "steps").mkdir()
        by_step = steps(urls, folder)
    rate = statistics.median(rate for rate, _ in pools)
    cpu = statistics.median(cpu for _, cpu in pools)

    def row(
        what: str, value: float, unit: str, beside: str, ratio: float, *, bar: float | None = None
    ) -> dict[str, object]:
        return {
            "bench": "pool",
            "what": what,
            "value": round(value, 1),
            "unit": unit,
            "beside": beside,
            "ratio": round(ratio, 2),
            "bar": bar,
        }

    against = statistics.median(e / w for (e, _), w in zip(pools, wgets, strict=True))
    share = statistics.median(e / w for (e, _), w in zip(pools, wrks, strict=True))
    rows = [
        row("whole visit", rate, "pages/s",
            f"wget2 -r, {CONNECTIONS} threads: {statistics.median(wgets):,.0f}/s", against, bar=BAR),
        row("whole visit, share of wrk", rate, "pages/s",
            f"wrk, {CONNECTIONS} connections: {statistics.median(wrks):,.0f}/s", share),
        row("CPU of a whole visit", cpu * 1e6, "µs/page", "all threads of the pool", 1.0),
    ]  # fmt: skip
    rows += [
        row(f"CPU, {what}", used * 1e6, "µs/page", "measured alone", used / cpu)
        for what, used in by_step.items()
    ]
    rest = cpu - sum(by_step.values())
    rows.append(row("CPU, rest", rest * 1e6, "µs/page", "the difference", rest / cpu))
    return rows


def main() -> int:
    rows = run()
    for row in rows:
        bar = f"  (at least {row['bar']} x)" if row["bar"] else ""
        print(
            f"{row['what']:45} {row['value']:>10} {row['unit']:9} "
            f"{row['ratio']:>6} x  {row['beside']}{bar}"
        )
    return 0 if all(r["ratio"] >= r["bar"] for r in rows if r["bar"]) else 1  # type: ignore[operator]


if __name__ == "__main__":
    sys.exit(main())
