"""Clusters as real processes: an engine, control nodes, crawl nodes, each started and killed alone."""

import asyncio
import contextlib
import json
import math
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
from tests.crawl.crawling import expected, gaps, until
from warcio.archiveiterator import ArchiveIterator
from warcio.exceptions import ArchiveLoadFailed

from gossamer.cluster.assignment import Assignment
from gossamer.cluster.crawl_state import CrawlState
from gossamer.cluster.messages import CONTROLS, Controls, decode
from gossamer.cluster.requests import ask_control
from gossamer.cluster.summary import Summary
from gossamer.engine import Access, Server, connect
from gossamer.errors import EngineError, GossamerError
from gossamer.settings.units import duration
from gossamer.simweb import SimWeb

GOSSAMER = [sys.executable, "-m", "gossamer.cli.main"]
LEASE = 3.0
LONG_LEASE = ["--set", "cluster.lease=20s"]
"""For tests in which no lease runs out: a machine that is busy for seconds does not end one."""
DELAY = 0.02
"""Seconds between visits to a host, where nothing else is said."""
SLOW = "400ms"
"""For tests that do things while the crawl goes on: it lasts until `Cluster.hurry`, on any machine."""
USUAL = [
    "--set", f"cluster.lease={LEASE}s",
    "--set", "cluster.rejoin=5s",
    "--set", "partitions=32",
    "--set", "threads=1",
    "--set", "store.batch_pages=16",
    "--set", "store.batch_wait=10ms",
    "--set", "politeness.response_factor=0",
    "--set", "alias.enabled=false",
    "--set", "control.port=0",
]  # fmt: skip


class Process:
    def __init__(self, arguments: list[str], messages: Path) -> None:
        self.messages = messages
        with messages.open("ab") as file:
            self._process = subprocess.Popen(
                [*GOSSAMER, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def code(self) -> int | None:
        return self._process.poll()

    def said(self) -> str:
        return self.messages.read_text()

    def signal(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def kill(self) -> None:
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGCONT)
            self._process.kill()
        self._process.wait(30)

    def wait(self, seconds: float) -> int:
        return self._process.wait(seconds)


class Cluster:
    """One crawl by many processes, in a directory."""

    def __init__(
        self,
        web: SimWeb,
        out: Path,
        *options: str,
        delay: str = "0s",
        snapshot_every: str = "1h",
        engines: list[str] | None = None,
        expect: int = 3,
        stay: bool = False,
        snapshots: str | None = None,
    ) -> None:
        self.stay = stay
        self.snapshots = snapshots or str(out / "snapshots")
        self.web = web
        self.out = out
        out.mkdir()
        self.server = None if engines else Server(out / "engine")
        self.urls = engines or []
        self.delay = delay
        self.expect = expect
        self.options = [*USUAL, "--set", f"cluster.snapshot_every={snapshot_every}", *options]
        self.control: Process | None = None
        self._controls: list[Process] = []
        self.nodes: dict[str, Process] = {}
        self.hurried = math.inf
        """When the gap became `DELAY`, by the clock of the web's log."""

    # --- processes

    def start(self, *names: str) -> None:
        self.start_engine()
        self.start_control(self.web.url)
        for name in names or ("n1", "n2", "n3"):
            self.start_node(name)

    def start_engine(self) -> None:
        if self.server is not None:
            self.server.start()
            self.urls = [self.server.url]

    def start_control(self, *arguments: str, name: str = "control") -> Process:
        process = Process(
            [
                "control", *arguments, "--engine", ",".join(self.urls),
                "--out", str(self.out / name), "--name", name, "--expect", str(self.expect),
                "--scope", "any", "--allow-private", "--delay", self.delay,
                *([] if self.stay else ["--until-done"]), *self.options,
            ],
            self.out / f"{name}.messages",
        )  # fmt: skip
        self.control = process
        self._controls.append(process)
        return process

    def start_node(self, name: str, engine: str | None = None) -> Process:
        process = Process(
            [
                "node", "--engine", engine or ",".join(self.urls), "--name", name,
                "--out", str(self.directory(name)), "--snapshots", self.snapshots,
            ],
            self.out / f"{name}.messages",
        )  # fmt: skip
        self.nodes[name] = process
        return process

    def directory(self, name: str) -> Path:
        return self.out / "nodes" / name

    def wipe(self, name: str, keep: Path) -> None:
        """The disk is gone; its WARC files are kept aside only to be counted."""
        shutil.move(self.directory(name), keep)

    def end(self) -> None:
        for process in [*self.nodes.values(), *self._controls]:
            process.kill()
        if self.server is not None:
            self.server.stop()

    def hurry(self) -> None:
        """From now on the gap of a host is `DELAY`: what was to be done meanwhile is done."""

        def told() -> bool:
            values = {"politeness.delay": f"{DELAY}s"}
            with contextlib.suppress(EngineError):
                self.ask("settings", {"values": values})
                return True
            return False

        self.hurried = time.time()
        until(told, "a control node to take the setting", 60)

    # --- looking

    def ask(self, name: str, body: object = None) -> Any:
        async def run() -> Any:
            line = await connect(Access(self.urls), "crawl", "test")
            try:
                return await ask_control(line, name, body, 10.0)
            finally:
                await line.close()

        return asyncio.run(run())

    def status(self) -> Summary | None:
        try:
            return msgspec.convert(self.ask("status"), Summary)
        except GossamerError:
            return None

    def map(self) -> Assignment | None:
        async def run() -> Assignment | None:
            line = await connect(Access(self.urls), "crawl", "test")
            try:
                return await CrawlState(line).read_map()
            finally:
                await line.close()

        return asyncio.run(run())

    def acquainted(self) -> bool:
        """Whether every control node's line says that there was another one beside it."""

        async def run() -> bool:
            line = await connect(Access(self.urls), "crawl", "test")
            try:
                entry = await CrawlState(line).crawls.get(CONTROLS)
            finally:
                await line.close()
            return entry is not None and all(
                one.beside for one in decode(entry.value, Controls, "a control node").nodes.values()
            )

        return asyncio.run(run())

    def until_requests(self, number: int, seconds: float = 120.0) -> None:
        end = time.monotonic() + seconds
        while self.web.requests() < number:
            assert time.monotonic() < end, (
                f"{self.web.requests()} of {number} requests; {self.status()}; {self.said()}"
            )
            time.sleep(0.01)

    def until_status(
        self, condition: Callable[[Summary], bool], what: str, seconds: float = 120.0
    ) -> Summary:
        end = time.monotonic() + seconds
        while True:
            status = self.status()
            if status is not None and condition(status):
                return status
            assert time.monotonic() < end, f"waited in vain: {what}; {status}; {self.said()}"
            time.sleep(0.1)

    def until_done(self, seconds: float = 200.0) -> Summary:
        """To the end, which must be a good one."""
        assert self.control is not None
        try:
            code = self.control.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"not done: {self.status()}\n{self.said()}") from None
        assert code == 0, self.said()
        for name, process in self.nodes.items():
            if process.code is None:
                assert process.wait(60) == 0, f"{name}: {self.said()}"
        file = next(self.out.glob("*/summary.json"))
        return msgspec.json.decode(file.read_bytes(), type=Summary)

    def said(self) -> str:
        return "\n".join(
            f"--- {file.stem}\n{file.read_text()[-3000:]}"
            for file in sorted(self.out.glob("*.messages"))
        )

    # --- what was stored

    def stored(self, *names: str) -> Counter[str]:
        """How often each page is in the WARC files of these nodes, or of all."""
        found: Counter[str] = Counter()
        every = names or [path.name for path in (self.out / "nodes").iterdir()]
        for name in every:
            found += stored(self.directory(name))
        return found

    def check_union(self, more: Counter[str] | None = None) -> Counter[str]:
        """All pages and no other; gives those that are there more than once."""
        pages = self.stored() + (more or Counter())
        wanted = expected(self.web)
        missing = wanted - set(pages)
        assert not missing, f"{len(missing)} of {len(wanted)} lost, such as {sorted(missing)[:3]}"
        assert set(pages) <= wanted
        return Counter({url: times for url, times in pages.items() if times > 1})


def stored(directory: Path) -> Counter[str]:
    found: Counter[str] = Counter()
    for file in sorted((directory / "warc").glob("*.warc.gz*")):
        # A node that was killed may have been writing: what is torn was not stored.
        torn = (ArchiveLoadFailed, EOFError) if file.suffix == ".open" else ()
        with file.open("rb") as stream, contextlib.suppress(*torn):
            for record in ArchiveIterator(stream):
                if record.rec_type in {"response", "revisit"}:
                    found[record.rec_headers.get_header("WARC-Target-URI")] += 1
    return Counter({url: n for url, n in found.items() if not url.endswith("/robots.txt")})


def logged(directory: Path) -> list[dict[str, Any]]:
    files = sorted((directory / "log").glob("*.jsonl"))
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]


def check_gap(cluster: Cluster, web_log: Path) -> None:
    """No host was visited too soon after the visit before, by the web's own log."""
    cluster.web.stop()
    slow = duration(cluster.delay)
    short = [
        (gap, where)
        for gap, later, where in gaps(web_log)
        if gap < (slow if later < cluster.hurried else DELAY) - 0.0005
    ]
    assert not short, min(short)
