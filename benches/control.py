"""The cost of watching: lists of a million hosts, and a crawl with ten browsers' worth of watchers.

The list: a paused crawl with a million hosts queued, asked over HTTP in every order, with searches
and deep pages. Watching: the same crawl with nobody and with ten watchers in turns; each watcher has
a stream open and looks at hosts, nodes and history every two seconds, as a dashboard does.
"""

import asyncio
import http.client
import itertools
import json
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
from pathlib import Path

from benches.crawl import GOSSAMER
from gossamer.control.api.server import serve as serve_api
from gossamer.control.standalone import StandaloneService
from gossamer.node.directory import prepare
from gossamer.node.standalone import Interrupt, Standalone
from gossamer.settings import load
from gossamer.simweb import Options, serve

MANY = 1_000_000
MOST_MS = 200
WATCHERS = 10
ROUNDS = 3
HOSTS = 400
PAGES = 30_000
LOSS = 0.03

Row = dict[str, object]


class Api:
    """A control API and its token, over one connection."""

    def __init__(self, directory: Path) -> None:
        self._authority = urllib.parse.urlsplit((directory / "url").read_text().strip()).netloc
        token = (directory / "token").read_text().strip()
        self._headers = {"Authorization": f"Bearer {token}"}
        self._connection = http.client.HTTPConnection(self._authority, timeout=60)

    def get(self, path: str, **query: object) -> dict[str, object]:
        value: dict[str, object] = json.loads(self.read(path, **query))
        return value

    def read(self, path: str, **query: object) -> bytes:
        text = f"?{urllib.parse.urlencode(query)}" if query else ""
        self._connection.request("GET", f"/api/v1{path}{text}", headers=self._headers)
        answer = self._connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"{path}: {answer.status} {body[:200]!r}")
        return body

    def stream(self) -> http.client.HTTPResponse:
        self._connection.request("GET", "/api/v1/stream", headers=self._headers)
        return self._connection.getresponse()


def ask_lists(directory: Path) -> list[float]:
    """Seconds of each request for a list."""
    api, seconds = Api(directory), []
    searches = ["", "777", "^host-12", "nothing-like-this", ".example"]
    for sort, search in itertools.product(
        ["queued", "pages", "errors", "last_visit", "next_visit", "name"], searches
    ):
        cursor: dict[str, object] = {}
        for _ in range(3):
            begun = time.perf_counter()
            page = api.get("/hosts", sort=sort, search=search, limit=100, **cursor)
            seconds.append(time.perf_counter() - begun)
            if page["next"] is None:
                break
            cursor = {"cursor": page["next"]}
    return seconds


async def list_of_many(out: Path) -> tuple[list[float], float]:
    settings = load(None, {"scope.kind": "any", "control.port": 0})
    prepare(out, settings, [], resume=False)
    crawl = Standalone(out, settings, served=True)
    async with crawl:
        for start in range(0, MANY, 50_000):
            urls = [f"http://host-{n}.example/" for n in range(start, start + 50_000)]
            await crawl.add_seeds(urls)
        await crawl.ask(lambda node: node.set_paused(True))
        interrupt = Interrupt()
        async with StandaloneService(crawl, out) as service:
            (out / "control").mkdir(exist_ok=True)
            async with serve_api(service, settings.control, out / "control"):
                running = asyncio.create_task(crawl.run(service.take, interrupt))
                seconds = await asyncio.to_thread(ask_lists, out / "control")
                hosts = crawl.node.host_list()
                ram = hosts.ram_bytes() / MANY if hosts else 0.0
                interrupt.count = 1
                await running
    return seconds, ram


def lists() -> list[Row]:
    with tempfile.TemporaryDirectory() as directory:
        seconds, ram = asyncio.run(list_of_many(Path(directory) / "out"))
    worst = max(seconds) * 1000
    return [
        {
            "what": f"list of {MANY} hosts over HTTP, worst of {len(seconds)} requests",
            "value": round(worst),
            "unit": "ms",
            "beside": f"median {statistics.median(seconds) * 1000:.0f} ms; bar {MOST_MS} ms",
            "ratio": round(MOST_MS / worst, 2),
            "bar": 1.0,
        },
        {
            "what": "memory of the list, per host",
            "value": round(ram),
            "unit": "bytes",
            "beside": "columns, map and names of 16 to 19 bytes",
            "ratio": None,
            "bar": None,
        },
    ]


def watch(directory: Path, ended: threading.Event) -> None:
    stream = Api(directory).stream()
    threading.Thread(target=stream.read, daemon=True).start()
    api = Api(directory)
    while not ended.is_set():
        try:
            # Read and not decoded: a browser does that on its own machine.
            api.read("/hosts", sort="queued", limit=50)
            api.read("/nodes")
            api.read("/history", seconds=60)
        except (OSError, RuntimeError, http.client.HTTPException):
            return
        ended.wait(2.0)


def crawl_watched(url: str, out: Path, watchers: int) -> tuple[float, float]:
    """Pages per second of the crawl's own time, and CPU seconds of its process per page."""
    process = subprocess.Popen(
        [*GOSSAMER, "crawl", url, "--scope", "any", "--allow-private", "--delay", "0",
         "--out", str(out), "--json", "--serve-port", "0"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    ended = threading.Event()
    while not (out / "control" / "url").exists():
        time.sleep(0.01)
        if process.poll() is not None:
            raise RuntimeError("the crawl ended before it was served")
    threads = [
        threading.Thread(target=watch, args=(out / "control", ended)) for _ in range(watchers)
    ]
    for thread in threads:
        thread.start()
    cpu = 0.0
    while process.poll() is None:
        cpu = _cpu(process.pid) or cpu
        time.sleep(0.05)
    ended.set()
    for thread in threads:
        thread.join()
    text = process.stdout.read() if process.stdout else ""
    summary = json.loads(text.splitlines()[-1])
    return summary["pages"] / summary["seconds"], cpu / summary["pages"]


def _cpu(pid: int) -> float | None:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) / 100


def watching() -> list[Row]:
    alone: list[tuple[float, float]] = []
    watched: list[tuple[float, float]] = []
    with serve(Options(port=0, hosts=HOSTS, pages=PAGES, host_skew=0.0)) as web:
        for _ in range(ROUNDS):
            for results, watchers in ((alone, 0), (watched, WATCHERS)):
                with tempfile.TemporaryDirectory() as directory:
                    results.append(crawl_watched(web.url, Path(directory) / "out", watchers))
    rates = [statistics.median(rate for rate, _ in rows) for rows in (alone, watched)]
    costs = [statistics.median(cost for _, cost in rows) * 1e6 for rows in (alone, watched)]
    return [
        {
            "what": f"crawl with {WATCHERS} watchers, {HOSTS} hosts, {PAGES} pages",
            "value": round(rates[1]),
            "unit": "pages/s",
            "beside": f"nobody watches: {rates[0]:.0f}",
            "ratio": round(rates[1] / rates[0], 3),
            "bar": 1 - LOSS,
        },
        {
            "what": "the same, CPU of the crawl's process per page",
            "value": round(costs[1]),
            "unit": "µs",
            "beside": f"nobody watches: {costs[0]:.0f}",
            "ratio": round(costs[0] / costs[1], 3),
            "bar": None,
        },
    ]


def run() -> list[Row]:
    return [*lists(), *watching()]


if __name__ == "__main__":
    for row in run():
        print(row, file=sys.stderr)
