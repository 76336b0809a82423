"""A control node's seat: what it knows, what it holds, and the few things that all its parts need."""

import asyncio
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from gossamer.cluster.lease import boot_micros
from gossamer.cluster.messages import (
    Wanted,
    encode,
)
from gossamer.cluster.view import View
from gossamer.control.attendance import Attendance
from gossamer.control.copy import Copy
from gossamer.control.finish import Finish
from gossamer.control.leader import Leadership
from gossamer.control.roster import Roster
from gossamer.control.summary import Summary, total
from gossamer.engine import Engine, LinkStream
from gossamer.errors import (
    EngineAwayError,
)
from gossamer.model.progress import Activity, Progress
from gossamer.settings import CrawlSettings

TRIES = 3


class SeedCoder(Protocol):
    """Seeds into messages; native, because it makes URLs."""

    def refusals(self, urls: Sequence[str], settings: CrawlSettings) -> list[str | None]: ...
    def encode(self, urls: Sequence[str], settings: CrawlSettings) -> list[tuple[int, bytes]]: ...


class Seat(ABC):
    """State of one control node. Nothing is done here; see `sending`, `placing`, `decisions`."""

    def __init__(
        self,
        engine: Engine,
        settings: CrawlSettings,
        *,
        control: str,
        directory: Path,
        coder: SeedCoder,
        read_settings: Callable[[str], CrawlSettings],
        write_settings: Callable[[CrawlSettings], str],
        say: Callable[[str], None],
        expect: int = 1,
        until_done: bool = False,
        resume: bool = False,
    ) -> None:
        self._engine = engine
        self._settings = settings
        self._control = control
        self._coder = coder
        self._read_settings = read_settings
        self._write_settings = write_settings
        self._say = say
        self._expect = expect
        self._until_done = until_done
        self._resume = resume
        self._view = View(engine)
        self._stream = LinkStream(engine)
        self._roster = Roster(self._view.nodes)
        self._copy = Copy(directory)
        self._leader = Leadership(self._view.crawls, control, settings.cluster.lease)
        self._attendance = Attendance(self._view.crawls, control, settings.cluster.lease)
        self._finish = Finish()
        self._began = boot_micros()
        self._first_node = 0.0
        self._change = 0
        self._leaving: set[str] = set()
        self._leaving_revision: int | None = None
        self._seeds: list[str] = []
        self._seeds_sent = 0
        self._send_since: float | None = None
        self._duty_read = False
        self._sent_again: set[str] = set()
        self._sized = self._stream_full = False
        self._relief: asyncio.Task[dict[str, object]] | None = None
        self._relieved = 0.0
        self._watched = 0.0
        self._events: deque[str] = deque(maxlen=200)
        self._ended = asyncio.Event()
        self._error = ""
        self._stream_messages = self._stream_bytes = 0
        self.state = "waiting"
        self.last: Summary | None = None

    @property
    def leading(self) -> bool:
        return self._leader.leading

    @abstractmethod
    def summary(self) -> Summary:
        """The crawl as a whole."""

    @abstractmethod
    async def ask_node(self, node: str, name: str, body: object = None) -> object:
        """A question of the closed list in `cluster.questions` to one node."""

    @abstractmethod
    async def checkpoint(self) -> dict[str, object]:
        """Snapshots of everything, now; gives for each node how many, or its error."""

    async def _want(self, wanted: Wanted) -> None:
        for left in reversed(range(TRIES)):
            try:
                await self._view.crawls.put("wanted", encode(wanted))
            except EngineAwayError:
                # Setting it twice is harmless, and an operator should not have to.
                if not left:
                    raise
            else:
                break
        await self._view.refresh()

    def _sum(self, activity: Activity = Activity.RUNNING) -> Progress:
        return total(self._roster.readings(), activity)
