"""What the page of a folder can tell and do. Every method is awaited in the event loop; what blocks is done in threads."""

import asyncio
import contextlib
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, TypeVar

from gossamer.control.client import own_client
from gossamer.control.service import RefusedError, UnreachableError, WrongValueError, service_error
from gossamer.crawls import starting
from gossamer.crawls.entering import way_in
from gossamer.crawls.listing import list_crawls, row_of
from gossamer.crawls.names import make_new, new_crawl, own_crawl
from gossamer.crawls.processes import Processes, Started
from gossamer.crawls.schemas import CrawlList, CrawlRow, Entered, GoOn, NewCrawl
from gossamer.crawls.views import Views
from gossamer.errors import GossamerError
from gossamer.library.runs import read_runs
from gossamer.settings.model import ControlSettings

OWN: Final = ".gossamer"
"""The folder in the folder that has address, tokens, audit log and what the commands said."""
FRESH: Final = 1.0
"""Seconds for which a list is given to everybody who asks."""
REPORT_TIME: Final = 120.0
REPORT_SIZE: Final = 64 << 20
"""Bytes of a report that are sent."""
_AT_ONCE: Final = 8
"""Commands at once; the others wait."""
_REPORTS: Final = 2
_STOP: Final = 50.0

T = TypeVar("T")


class CrawlsService:
    def __init__(self, folder: Path, control: ControlSettings) -> None:
        self.folder = folder.absolute()
        self._control = control
        self._own = self.folder / OWN
        self._page_ends = threading.Event()
        self._processes = Processes()
        self._views = Views(self._processes, control, self._page_ends)
        self._pool = ThreadPoolExecutor(_AT_ONCE, "crawls")
        self._busy: set[str] = set()
        self._reports = threading.Semaphore(_REPORTS)
        self._listing = asyncio.Lock()
        self._list: tuple[float, CrawlList] | None = None

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """At the end views are closed and nothing is waited for any more; crawls go on."""
        try:
            yield
        finally:
            self._page_ends.set()
            await asyncio.to_thread(self._views.close_all)
            await asyncio.to_thread(self._pool.shutdown, cancel_futures=True)

    async def list(self) -> CrawlList:
        async with self._listing:
            if self._list is None or time.monotonic() - self._list[0] > FRESH:
                found = await asyncio.to_thread(self._look)
                self._list = (time.monotonic(), found)
            return self._list[1]

    async def start(self, asked: NewCrawl, host: str) -> Entered:
        """`host`: under which the page was asked for."""
        return await self._do(asked.name, lambda: self._start(asked, host))

    async def go_on(self, name: str, asked: GoOn, host: str) -> Entered:
        return await self._do(name, lambda: self._go_on(name, asked, host))

    async def stop(self, name: str) -> CrawlRow:
        return await self._do(name, lambda: self._stop(name))

    async def open(self, name: str, host: str) -> Entered:
        return await self._do(name, lambda: self._open(name, host))

    async def close(self, name: str) -> CrawlRow:
        return await self._do(name, lambda: self._close(name))

    async def report(self, name: str) -> bytes:
        return await self._in_thread(lambda: self._report(name))

    # --- in threads

    async def _do(self, name: str, action: Callable[[], T]) -> T:
        """One thing at a time with a crawl, and a new list afterwards."""
        if name in self._busy:
            raise RefusedError("busy", f"{name} is being started, stopped or opened already")
        self._busy.add(name)
        try:
            return await self._in_thread(action)
        finally:
            self._busy.discard(name)
            self._list = None

    async def _in_thread(self, action: Callable[[], T]) -> T:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, action)
        except GossamerError as error:
            raise service_error(error) from error
        except OSError as error:
            why = f"the folder's files cannot be used: {error.strerror or error}"
            raise UnreachableError("failed", why, again=None) from error

    def _look(self) -> CrawlList:
        # Who was killed and not waited for would count as alive.
        self._processes.reap()
        found = list_crawls(self.folder)
        return found.model_copy(update={"crawls": [self._told(row) for row in found.crawls]})

    def _told(self, row: CrawlRow) -> CrawlRow:
        return row.model_copy(update={"opened": True}) if self._views.has(row.name) else row

    def _log(self, name: str, kind: str = "log") -> Path:
        # Cut, so that it can be the name of a file, however long that of the folder is.
        return self._own / f"{name.encode()[:200].decode(errors='ignore')}.{kind}"

    def _start(self, asked: NewCrawl, host: str) -> Entered:
        out = new_crawl(self.folder, asked.name)
        if not asked.seeds.strip():
            raise WrongValueError("no_seed", "seeds: at least one is needed, a URL a line")
        text = starting.settings_of(asked, self._control)
        make_new(out)
        try:
            started = self._launch_new(asked.seeds, text, out)
        except BaseException:
            starting.remove_empty(out)
            raise
        return self._awaited(started, out, 0, host, new=True)

    def _launch_new(self, seeds: str, settings: str, out: Path) -> Started:
        with starting.unnamed(seeds) as given, starting.unnamed(settings) as file:
            words = starting.new_words(out, file.fileno())
            return self._processes.launch(
                words, self._log(out.name), stdin=given, handed=(file.fileno(),)
            )

    def _go_on(self, name: str, asked: GoOn, host: str) -> Entered:
        out = own_crawl(self.folder, name)
        if row_of(out).running:
            raise RefusedError("running", f"{name} runs already; stop it first to start it anew")
        # A view holds the state.
        self._views.close(name)
        runs = len(read_runs(out))
        words = starting.go_on_words(asked, out, self._control)
        started = self._processes.launch(words, self._log(name))
        return self._awaited(started, out, runs, host, new=False)

    def _awaited(self, started: Started, out: Path, runs: int, host: str, *, new: bool) -> Entered:
        enter: str | None = None
        if starting.await_start(started.process, out, runs, self._page_ends):
            # That it cannot be entered from here is said to who wants to; it runs.
            with contextlib.suppress(RefusedError):
                enter = way_in(out, host, self._control, view=False)
        else:
            starting.check_ended(started, out, runs, new=new)
        return Entered(crawl=row_of(out), enter=enter)

    def _stop(self, name: str) -> CrawlRow:
        out = own_crawl(self.folder, name)
        row = row_of(out)
        if not row.running:
            raise RefusedError("not_running", f"{name} does not run")
        if row.dashboard is None:
            raise RefusedError(
                "not_served",
                f"{name} runs without a dashboard: end it with Ctrl-C where it was started",
            )
        result = own_client(out).post("/commands", {"command": "stop"}, timeout=_STOP)
        if not result["confirmed"] and result["nodes"]:
            raise UnreachableError("not_confirmed", "not every node has confirmed; ask again")
        return row_of(out)

    def _open(self, name: str, host: str) -> Entered:
        out = own_crawl(self.folder, name)
        row = row_of(out)
        if row.running and row.dashboard is None:
            raise RefusedError(
                "not_served",
                f"{name} runs without a dashboard, or does not answer; its report can be had meanwhile",
            )
        # An address may be an old one, as long as a view of ours has not told its own.
        if not row.running and (row.dashboard is None or self._views.has(name)):
            self._views.open(out, self._log(name, "open.log"))
        enter = way_in(out, host, self._control, view=self._views.has(name))
        return Entered(crawl=self._told(row_of(out)), enter=enter)

    def _close(self, name: str) -> CrawlRow:
        out = own_crawl(self.folder, name)
        if not self._views.has(name):
            raise RefusedError(
                "not_opened", f"{name} was not opened here; end what was, where it was, with Ctrl-C"
            )
        self._views.close(name)
        return row_of(out)

    def _report(self, name: str) -> bytes:
        out = own_crawl(self.folder, name)
        with self._one_of_few(), tempfile.TemporaryDirectory(dir=self._own) as place:
            file, log = Path(place, "report.html"), Path(place, "log")
            started = self._processes.launch(["report", "--quiet", f"--html={file}", str(out)], log)
            code = starting.run_to_end(started.process, REPORT_TIME, self._page_ends)
            if code is None:
                raise UnreachableError(
                    "too_slow", "the report takes long: use gossamer report", again=None
                )
            if code:
                raise RefusedError("no_report", started.last_words() or "there is no report")
            if file.stat().st_size > REPORT_SIZE:
                raise RefusedError("too_large", "the report is large: use gossamer report")
            return file.read_bytes()

    @contextlib.contextmanager
    def _one_of_few(self) -> Iterator[None]:
        if not self._reports.acquire(blocking=False):
            raise UnreachableError("busy", "other reports are being made; ask again")
        try:
            yield
        finally:
            self._reports.release()
