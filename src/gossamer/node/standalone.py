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
from typing import Self, TypeVar

import msgspec

from gossamer import _native
from gossamer.errors import (
    BrokenStateError,
    DiskFullError,
    GossamerError,
    SettingsError,
    StateInUseError,
)
from gossamer.library.seeds import Refused
from gossamer.model.progress import Activity, Progress
from gossamer.model.stopping import stopping
from gossamer.node.directory import save_settings, seeds_are_safe
from gossamer.node.doors import Doors
from gossamer.node.native_settings import NONE, to_native
from gossamer.node.policy_log import log_failure
from gossamer.policy.chosen import Policies, check_change, choose
from gossamer.policy.rules import Secrets, read_secrets
from gossamer.settings import CrawlSettings

STEP_WAIT = 0.2
"""Longest wait of a step, in seconds: how soon a signal or a limit is noticed."""

GRACE = 10.0
"""How long visits under way may go on after Ctrl-C, in seconds."""

HELD = 1.0
"""How long pages that a policy holds are waited for after that, in seconds."""

T = TypeVar("T")
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


@contextlib.contextmanager
def _explained(out: Path) -> Iterator[None]:
    """Errors of the native node as ours, with the directory named."""
    try:
        yield
    except _native.StateInUseError as error:
        raise StateInUseError(
            f"the crawl in {out} is running in another process, or open in `gossamer open`",
            do="end that with Ctrl-C, or wait until it has ended",
        ) from error
    except _native.StateFullError as error:
        raise DiskFullError(f"{out}: {error}") from error
    except (_native.StateError, OSError, RuntimeError) as error:
        # RuntimeError: the node is closed.
        raise BrokenStateError(f"{out}: {error}") from error
    except ValueError as error:
        # A value that only the native part can check.
        raise SettingsError(str(error)) from error


class Standalone:
    """One crawl in one process."""

    def __init__(
        self,
        out: Path,
        settings: CrawlSettings,
        *,
        served: bool = False,
        stay: bool = False,
        policies: Policies | None = None,
    ) -> None:
        """`policies`: those that the settings name; None: they are made when the crawl is opened."""
        self._out = out
        self._settings = settings
        self._served = served
        self._stay = stay
        self._policies = policies
        self._secrets: Secrets = {}
        self._doors: Doors | None = None
        self._node: _native.Node | None = None
        self.stop_wanted = False
        """The operator asked it to save everything and end."""
        self.unsaved = False
        """There was no room to store the last visits at the end; they will be made again."""
        self.last: Progress | None = None
        """The counters of all that is safe, once it is closed."""

    async def __aenter__(self) -> Self:
        if self._policies is None:
            self._policies = await asyncio.to_thread(choose, self._settings)
        # Once: they are fixed, and a change of other settings needs none of their files.
        self._secrets = await asyncio.to_thread(read_secrets, self._settings)
        with _explained(self._out):
            self._node = await asyncio.to_thread(self._open)
        if self._policies.called:
            self._doors = Doors(self._policies, self._settings, log_failure)
            self._doors.start(self._node.doors())
        # Only now: as long as the state is not ours, neither is the directory.
        await asyncio.to_thread(save_settings, self._out, self._settings)
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, failure: BaseException | None, _trace: object
    ) -> None:
        node, self._node = self._node, None
        if node is None:
            return
        try:
            with _explained(self._out):
                last = await asyncio.to_thread(node.close)
                self.last = _decode(last) if last is not None else None
                if self._doors is not None:
                    await asyncio.to_thread(self._doors.close)
        except DiskFullError:
            self.unsaved = True
        except GossamerError:
            # What went wrong first is told; closing then often fails for the same reason.
            if failure is None:
                raise

    def _open(self) -> _native.Node:
        return _native.Node(str(self._out), self._native_text(self._settings))

    def _native_text(self, settings: CrawlSettings) -> str:
        return to_native(
            settings,
            host_list=self._served,
            policies=self._policies or NONE,
            secrets=self._secrets,
        )

    @property
    def settings(self) -> CrawlSettings:
        return self._settings

    async def ask(self, action: Callable[[_native.Node], T]) -> T:
        """Asks or tells the node something; a step lets it in within some 20 ms."""
        with _explained(self._out):
            return await asyncio.to_thread(action, self.node)

    async def apply(self, settings: CrawlSettings) -> None:
        """Works with other live settings from now on, and keeps them for the next start.

        A value that has no effect here, or that the native part cannot use, is a SettingsError, and
        nothing is changed.
        """
        await asyncio.to_thread(check_change, self._settings, settings)
        text = self._native_text(settings)
        try:
            await asyncio.to_thread(self.node.set_settings, text)
        except ValueError as error:
            raise SettingsError(str(error)) from error
        except RuntimeError as error:
            raise BrokenStateError(f"{self._out}: {error}") from error
        await asyncio.to_thread(save_settings, self._out, settings)
        self._settings = settings

    @property
    def node(self) -> _native.Node:
        if self._node is None:
            raise GossamerError("the crawl is not open", do="use it within its `async with` block")
        return self._node

    async def reading(self) -> Progress:
        """The counters as they are. A round is made for it, in which visits may begin; none is waited for."""
        return _decode(await self.ask(lambda node: node.step(0.0)))

    async def add_seeds(self, urls: list[str]) -> list[Refused]:
        """Puts seeds through the door into `seen`; gives those refused, with the reason."""
        reasons = await self.ask(lambda node: node.add_seeds(urls))
        await asyncio.to_thread(seeds_are_safe, self._out)
        return [
            Refused(url, reason)
            for url, reason in zip(urls, reasons, strict=True)
            if reason is not None
        ]

    def _ended(self, progress: Progress, *, time_is_up: bool) -> Progress:
        """Time is a limit too, which the native node does not know."""
        if time_is_up and progress.activity is Activity.RUNNING and not self.stop_wanted:
            return msgspec.structs.replace(progress, activity=Activity.LIMIT_REACHED)
        return progress

    def counted(self, progress: Progress) -> Progress:
        """The last reading of a run, with the counters that the closed crawl has."""
        if self.last is None:
            return progress
        return msgspec.structs.replace(self.last, activity=progress.activity)

    async def run(self, show: Callable[[Progress], None], interrupt: Interrupt) -> Progress:
        """Steps until the crawl is finished, a limit is reached or an interrupt came."""
        node = self.node
        stopping_since: float | None = None
        ending_since: float | None = None
        while True:
            begun = time.monotonic()
            progress = _decode(await self.ask(lambda node: node.step(STEP_WAIT)))
            if interrupt.count or self.stop_wanted:
                waited = time.monotonic() - (stopping_since or begun)
                progress = stopping(progress, GRACE - waited, interrupts=interrupt.count)
            show(progress)
            ended = progress.activity in {Activity.FINISHED, Activity.LIMIT_REACHED}
            stays = self._stay and not (interrupt.count or self.stop_wanted)
            if progress.activity is Activity.FINISHED and not stays:
                return progress
            if (ended or progress.activity is Activity.PAUSED) and stopping_since is None:
                # A step with nothing left to do returns at once.
                await asyncio.sleep(max(0.0, STEP_WAIT - (time.monotonic() - begun)))
            limit = self._settings.limits.time
            time_is_up = limit is not None and progress.seconds >= limit
            if stopping_since is None and (
                interrupt.count or self.stop_wanted or time_is_up or (ended and not stays)
            ):
                stopping_since = time.monotonic()
                node.stop(now=False)
            if stopping_since is None:
                continue
            if interrupt.count > 1 or time.monotonic() - stopping_since > GRACE:
                node.stop(now=True)
                ending_since = ending_since or time.monotonic()
            # A policy that holds pages is not waited for; closing stores them as without one.
            held = ending_since is not None and time.monotonic() - ending_since > HELD
            # Without room on the disk nothing under way can be taken in.
            over = progress.in_flight == 0 and progress.settled
            if over or held or progress.activity is Activity.DISK_FULL:
                return self._ended(progress, time_is_up=time_is_up and not interrupt.count)
