"""A standalone crawl: one process, no server of any kind, all cores.

Python decides between the steps of the native node: limits, when to stop, what to show. A step is a
batch; nothing here runs per page or per link.
"""

import asyncio
import contextlib
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Self

import msgspec

from gossamer import _native
from gossamer.errors import GossamerError, StateInUseError
from gossamer.model.progress import Activity, Progress
from gossamer.node.handover import native_settings
from gossamer.path.seed import Refused
from gossamer.settings import CrawlSettings, dump

STEP_WAIT = 0.2
"""Longest wait of a step, in seconds: how soon a signal or a limit is noticed."""

GRACE = 10.0
"""How long visits under way may go on after Ctrl-C, in seconds."""

_decode = msgspec.json.Decoder(Progress).decode


class Interrupt:
    """Counts Ctrl-C and SIGTERM: the first asks to save and stop, the second to hurry."""

    def __init__(self) -> None:
        self.count = 0

    def _note(self, _number: int, _frame: FrameType | None) -> None:
        self.count += 1

    @contextlib.contextmanager
    def installed(self) -> Iterator[None]:
        before = {
            number: signal.signal(number, self._note) for number in (signal.SIGINT, signal.SIGTERM)
        }
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def prepare(out: Path, settings: CrawlSettings, *, resume: bool) -> None:
    """Makes the directory of a new crawl, or checks that there is one to resume."""
    state = out / "state"
    if resume and not state.exists():
        raise StateInUseError(f"{out} holds no crawl to resume (no {state})")
    if not resume and state.exists():
        raise StateInUseError(
            f"{out} holds a crawl already; go on with --resume, or choose another --out"
        )
    if not resume and out.exists() and any(out.iterdir()):
        raise StateInUseError(f"{out} is not empty and holds no crawl; choose another --out")
    out.mkdir(parents=True, exist_ok=True)
    text = dump(settings)
    temporary = out / "crawl.toml.new"
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(out / "crawl.toml")


class Standalone:
    """One crawl in one process."""

    def __init__(self, out: Path, settings: CrawlSettings) -> None:
        self._out = out
        self._settings = settings
        self._node: _native.Node | None = None

    async def __aenter__(self) -> Self:
        try:
            self._node = await asyncio.to_thread(
                _native.Node, str(self._out), native_settings(self._settings)
            )
        except ValueError as error:
            raise GossamerError(str(error)) from error
        return self

    async def __aexit__(self, *_: object) -> None:
        node, self._node = self._node, None
        if node is not None:
            await asyncio.to_thread(node.close)

    @property
    def node(self) -> _native.Node:
        if self._node is None:
            raise GossamerError("the crawl is not open")
        return self._node

    async def add_seeds(self, urls: list[str]) -> list[Refused]:
        """Puts seeds through the door into `seen`; gives those refused, with the reason."""
        reasons = await asyncio.to_thread(self.node.add_seeds, urls)
        return [
            Refused(url, reason)
            for url, reason in zip(urls, reasons, strict=True)
            if reason is not None
        ]

    async def run(self, show: Callable[[Progress], None], interrupt: Interrupt) -> Progress:
        """Steps until the crawl is finished, a limit is reached or an interrupt came."""
        node = self.node
        limit = self._settings.limits.time
        stopping_since: float | None = None
        while True:
            progress = _decode(await asyncio.to_thread(node.step, STEP_WAIT))
            show(progress)
            if progress.activity is Activity.FINISHED:
                return progress
            time_is_up = limit is not None and progress.seconds >= limit
            if stopping_since is None and (
                interrupt.count or time_is_up or progress.activity is Activity.LIMIT_REACHED
            ):
                stopping_since = time.monotonic()
                node.stop(now=False)
            if stopping_since is None:
                continue
            if interrupt.count > 1 or time.monotonic() - stopping_since > GRACE:
                node.stop(now=True)
            if progress.in_flight == 0:
                return progress
