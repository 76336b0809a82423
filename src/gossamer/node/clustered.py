"""A crawl node of a cluster: the same native node as a standalone crawl's, owning some partitions.

The only difference is the carrier behind `exchange`, and that somebody else says which partitions
are ours. The wiring of `gossamer.cluster.member` and of the control node's seeds stands here.
"""

import asyncio
import contextlib
import os
import signal
import socket
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from pathlib import Path

from gossamer import _native
from gossamer.cluster.home import Home
from gossamer.cluster.member import Member, evicted
from gossamer.cluster.shared_settings import engine_access, read_settings
from gossamer.engine import connect
from gossamer.engine.names import check_node_name
from gossamer.errors import (
    BrokenStateError,
    DiskFullError,
    EvictedError,
    StateInUseError,
    VersionError,
)
from gossamer.node.doors import Doors
from gossamer.node.native_settings import NONE, to_native
from gossamer.node.policy_log import log_failure
from gossamer.node.recent import visit_rows
from gossamer.policy.chosen import choose
from gossamer.policy.rules import Secrets, read_secrets
from gossamer.settings import CrawlSettings

STEP_WAIT = 0.1
"""Seconds that a step waits for something to do."""


class NativeWiring:
    """What a member needs of the native part."""

    def __init__(self) -> None:
        self._policies = NONE
        self._secrets: Secrets = {}

    def open_node(self, directory: Path, settings: CrawlSettings, name: str) -> _native.Node:
        """With its doors: their threads end when the node is closed.

        PolicyError: the crawl's settings name a policy that this machine has not. SettingsError: a value
        of its credentials is not there. Both are fixed, so they are read once.
        """
        self._policies, self._secrets = choose(settings), read_secrets(settings)
        try:
            node = _native.Node(str(directory), self.native_text(settings, name))
        except _native.StateInUseError as error:
            raise StateInUseError(f"{directory}: {error}") from error
        except (_native.StateError, OSError, ValueError) as error:
            raise BrokenStateError(f"{directory}: {error}") from error
        if self._policies.called:
            Doors(self._policies, settings, log_failure).start(node.doors())
        return node

    def native_text(self, settings: CrawlSettings, name: str) -> str:
        return to_native(
            settings,
            node_name=name,
            host_list=True,
            policies=self._policies,
            secrets=self._secrets,
        )

    async def step(self, node: _native.Node, threads: Executor) -> bytes:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(threads, node.step, STEP_WAIT)

    def read_settings(self, text: str) -> CrawlSettings:
        return read_settings(text)

    def last_visits(self, directory: Path, url: str) -> list[dict[str, object]]:
        return visit_rows(directory, url)


class NativeSeeds:
    """Seeds into messages for their partitions."""

    def refusals(self, urls: Sequence[str], settings: CrawlSettings) -> list[str | None]:
        return _native.pack_seeds(self._text(settings), list(urls))[1]

    def encode(
        self, urls: Sequence[str], settings: CrawlSettings, hops: int = 0
    ) -> list[tuple[int, bytes]]:
        return _native.pack_seeds(self._text(settings), list(urls), hops)[0]

    def check(self, settings: CrawlSettings) -> None:
        """What only the native part can check (regular expressions, ranges): `ValueError`."""
        _native.pack_seeds(self._text(settings), [])

    def _text(self, settings: CrawlSettings) -> str:
        return to_native(settings, node_name="control")


async def run_node(
    settings: CrawlSettings,
    *,
    name: str,
    out: Path,
    ended: asyncio.Event | None = None,
) -> str:
    """A node's process, through as many incarnations as it takes; gives why it ended."""
    check_node_name(name)
    home = Home(out, name, settings.cluster.name)
    await asyncio.to_thread(home.open)
    await asyncio.to_thread(home.write_pid)
    engine = await connect(engine_access(settings), settings.cluster.name, f"node {name}")
    loop = asyncio.get_running_loop()
    current: list[Member] = []

    def stop() -> None:
        for one in current:
            one.stop("interrupted")

    def hurry() -> None:
        for one in current:
            one.hurry("interrupted")

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, hurry)
    watching = asyncio.create_task(_stop_when(ended, stop)) if ended else None
    try:
        while True:
            member = Member(
                home,
                engine,
                snapshots_url=settings.cluster.snapshots,
                wiring=NativeWiring(),
                host=socket.gethostname(),
                pid=os.getpid(),
            )
            current[:] = [member]
            try:
                return await member.run()
            except EvictedError as error:
                await evicted(home, error)
            except _native.StateFullError as error:
                raise DiskFullError(f"{out}: {error}") from error
            except _native.VersionError as error:
                raise VersionError(f"{out}: {error}") from error
            except (_native.StateError, OSError) as error:
                raise BrokenStateError(f"{out}: {error}") from error
    finally:
        if watching is not None:
            watching.cancel()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
        with contextlib.suppress(Exception):
            await engine.close()
        await asyncio.to_thread((out / "pid").unlink, missing_ok=True)


async def _stop_when(ended: asyncio.Event, stop: Callable[[], None]) -> None:
    await ended.wait()
    stop()
