"""The cost of watching: lists of a million hosts, and a crawl with ten browsers open.

The list: a paused crawl with a million hosts queued, asked over HTTP in every order, with searches
and deep pages. Watching: one crawl without a delay, looked at by nobody and by ten pages of a real
Chromium in turns, and each watched time set beside the unwatched ones before and after it.

Browsers are on other machines than a crawl. Here they are not, so the crawl with its server has one
processor, and the simulated web and Chromium have the others, Chromium at idle priority: what shows
is what it costs the crawl to be watched, not what it costs to draw. The crawl fills its processor, so
that all its server does is taken from visits.
"""

import asyncio
import contextlib
import http.client
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Self

from benches.browsers import SHOWN, chromium
from benches.crawl import GOSSAMER
from gossamer.control.api.server import serve as serve_api
from gossamer.control.client import Client
from gossamer.control.standalone_service import StandaloneService
from gossamer.control.tokens import read_token
from gossamer.node.directory import prepare
from gossamer.node.recent import visit_rows
from gossamer.node.standalone import Interrupt, Standalone
from gossamer.settings import load
from gossamer.simweb import Options, SimWeb, serve

MANY = 1_000_000
MOST_MS = 200
ROUNDS = 7
SECONDS = 8.0
"""Of each time that is measured."""
SETTLED = 80_000
"""Requests before the first one: most URLs are known by then, so the store has little to compact.
Compaction comes in bursts of some seconds that take a fifth of the crawl's pace; they would hide
what watching costs."""
SETTLING = 1.0
"""Seconds until it is at its pace again after a pause."""
HOSTS = 400
PAGES = 800_000
"""More than it can visit meanwhile; it is ended then."""
LOSS = 0.03

Row = dict[str, object]


class Pace(NamedTuple):
    rate: float
    """Pages per second."""
    cost: float
    """Microseconds of CPU per page."""


class Api:
    """A control API and its token, over one connection."""

    def __init__(self, directory: Path) -> None:
        self._authority = urllib.parse.urlsplit((directory / "url").read_text().strip()).netloc
        token = (directory / "token").read_text().strip()
        self._headers = {"Authorization": f"Bearer {token}"}
        self._connection = http.client.HTTPConnection(self._authority, timeout=60)

    def get(self, path: str, **query: object) -> dict[str, object]:
        text = f"?{urllib.parse.urlencode(query)}" if query else ""
        self._connection.request("GET", f"/api/v1{path}{text}", headers=self._headers)
        answer = self._connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"{path}: {answer.status} {body[:200]!r}")
        value: dict[str, object] = json.loads(body)
        return value


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
        async with StandaloneService(crawl, out, visit_rows) as service:
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


class Crawl:
    """A crawl without a delay that is served, on a processor of its own."""

    def __init__(self, web: SimWeb, out: Path, processors: set[int]) -> None:
        self._web = web
        self.control = out / "control"
        self._process = subprocess.Popen(
            [*GOSSAMER, "crawl", web.url, "--scope", "any", "--allow-private", "--delay", "0",
             "--out", str(out), "--serve-port", "0"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        # Before it has threads of its own: these stay where it is.
        os.sched_setaffinity(self._process.pid, processors)

    @property
    def url(self) -> str:
        return (self.control / "url").read_text().strip()

    @property
    def token(self) -> str:
        return read_token(self.control / "token")

    def __enter__(self) -> Self:
        while not (self.control / "url").exists() or self._web.requests() < SETTLED:
            time.sleep(0.05)
            self._check()
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Paused meanwhile: what is set up then is neither held up nor measured."""
        client = Client(self.url, self.token)
        client.post("/commands", {"command": "pause"})
        yield
        client.post("/commands", {"command": "resume"})
        time.sleep(SETTLING)

    def measure(self) -> Pace:
        """Pages per second by the web's own count, and CPU of the process per page, from now on."""
        pages, cpu, begun = self._web.requests(), self._cpu(), time.perf_counter()
        time.sleep(SECONDS)
        pages, cpu = self._web.requests() - pages, self._cpu() - cpu
        seconds = time.perf_counter() - begun
        self._check()
        return Pace(pages / seconds, cpu / pages * 1e6)

    def _check(self) -> None:
        if self._process.poll() is not None:
            raise RuntimeError("the crawl ended before it was measured: it needs more pages")

    def _cpu(self) -> float:
        text = Path(f"/proc/{self._process.pid}/stat").read_text()
        fields = text.rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def shares() -> tuple[set[int], set[int]]:
    """Processors of the crawl, and of everything else; the same one where there is but one."""
    first, *others = sorted(os.sched_getaffinity(0))
    return {first}, set(others) or {first}


def measured() -> tuple[list[Pace], list[Pace], float]:
    """Nobody, ten browsers, nobody, …; and the questions per second that the browsers asked."""
    alone, watched, asked = [], [], 0
    ours, theirs = shares()
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, theirs)
    try:
        with (
            serve(Options(port=0, hosts=HOSTS, pages=PAGES, host_skew=0.0)) as web,
            chromium(theirs) as browsers,
            tempfile.TemporaryDirectory() as directory,
            Crawl(web, Path(directory) / "out", ours) as crawl,
        ):
            alone.append(crawl.measure())
            for _ in range(ROUNDS):
                with crawl.held():
                    browsers.sign_in(crawl.url, crawl.token)
                    asked -= browsers.asked()
                watched.append(crawl.measure())
                with crawl.held():
                    asked += browsers.asked()
                    browsers.leave()
                alone.append(crawl.measure())
    finally:
        os.sched_setaffinity(0, before)
    return alone, watched, asked / (ROUNDS * (SECONDS + SETTLING))


def beside(values: list[float], between: list[float]) -> float:
    """The median of each value beside the mean of its two neighbours in time."""
    return statistics.median(
        value / ((before + after) / 2)
        for value, (before, after) in zip(values, itertools.pairwise(between), strict=True)
    )


def spread(values: list[float]) -> str:
    """How far values that should be equal are apart: a loss below that is not seen."""
    return f"{statistics.median(values):.0f} ({min(values):.0f} to {max(values):.0f})"


def watching() -> list[Row]:
    alone, watched, asked = measured()
    rates = [[pace.rate for pace in rows] for rows in (alone, watched)]
    costs = [[pace.cost for pace in rows] for rows in (alone, watched)]
    return [
        {
            "what": f"crawl on one processor, {len(SHOWN)} Chromium pages live, {ROUNDS} rounds",
            "value": round(statistics.median(rates[1])),
            "unit": "pages/s",
            "beside": f"nobody: {spread(rates[0])}; Chromium at idle priority on the other "
            f"processors, asking {asked:.1f}/s beside its streams",
            "ratio": round(beside(rates[1], rates[0]), 3),
            "bar": 1 - LOSS,
        },
        {
            "what": "the same, CPU of the crawl's process per page",
            "value": round(statistics.median(costs[1])),
            "unit": "µs",
            "beside": f"nobody: {spread(costs[0])}",
            "ratio": round(1 / beside(costs[1], costs[0]), 3),
            "bar": None,
        },
    ]


def run() -> list[Row]:
    return [*lists(), *watching()]


if __name__ == "__main__":
    for row in run():
        print(row, file=sys.stderr)
