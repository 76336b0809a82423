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
from pathlib import Path

import msgspec

from gossamer import _native
from gossamer.cluster.home import Home
from gossamer.cluster.member import Member, evicted
from gossamer.control.decisions import OWN
from gossamer.engine import Access, connect
from gossamer.engine.names import check_node_name
from gossamer.errors import DiskFullError, EvictedError, GossamerError, StateInUseError
from gossamer.node.handover import native_settings
from gossamer.node.recent import visit_rows
from gossamer.settings import CrawlSettings
from gossamer.settings.load import check


class NativeWiring:
    """What a member needs of the native part."""

    def open_node(self, directory: Path, settings: CrawlSettings, name: str) -> _native.Node:
        try:
            node = _native.Node(str(directory), self.native_text(settings, name))
        except _native.StateInUseError as error:
            raise StateInUseError(f"{directory}: {error}") from error
        except (_native.StateError, OSError, ValueError) as error:
            raise GossamerError(f"{directory}: {error}") from error
        return node

    def native_text(self, settings: CrawlSettings, name: str) -> str:
        return native_settings(settings, node_name=name, host_list=True)

    def read_settings(self, text: str) -> CrawlSettings:
        return read_settings(text)

    def last_visits(self, directory: Path, url: str) -> list[dict[str, object]]:
        return visit_rows(directory, url)


class NativeSeeds:
    """Seeds into messages for their partitions."""

    def refusals(self, urls: Sequence[str], settings: CrawlSettings) -> list[str | None]:
        return _native.pack_seeds(self._text(settings), list(urls))[1]

    def encode(self, urls: Sequence[str], settings: CrawlSettings) -> list[tuple[int, bytes]]:
        return _native.pack_seeds(self._text(settings), list(urls))[0]

    def _text(self, settings: CrawlSettings) -> str:
        return native_settings(settings, node_name="control")


def read_settings(text: str) -> CrawlSettings:
    return check(msgspec.json.decode(text), "the crawl's settings")


def write_settings(settings: CrawlSettings) -> str:
    """For the engine: without what belongs to this machine."""
    values = settings.model_dump(mode="json", exclude_none=True)
    for name in OWN:
        values["cluster"].pop(name, None)
    return msgspec.json.encode(values).decode()


def access(settings: CrawlSettings) -> Access:
    """How this machine reaches the engine."""
    cluster = settings.cluster

    def path(text: str | None) -> Path | None:
        return Path(text) if text else None

    return Access(
        cluster.engine,
        path(cluster.credentials),
        path(cluster.tls_ca),
        path(cluster.tls_cert),
        path(cluster.tls_key),
        path(cluster.token),
    )


async def run_node(
    settings: CrawlSettings,
    *,
    name: str,
    out: Path,
    say: Callable[[str], None],
    ended: asyncio.Event | None = None,
) -> str:
    """A node's process, through as many incarnations as it takes; gives why it ended."""
    check_node_name(name)
    home = Home(out, name, settings.cluster.name)
    await asyncio.to_thread(home.open)
    await asyncio.to_thread(home.write_pid)
    engine = await connect(access(settings), settings.cluster.name, f"node {name}")
    loop = asyncio.get_running_loop()
    current: list[Member] = []

    def stop() -> None:
        for one in current:
            one.stop("interrupted")

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
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
                say=say,
            )
            current[:] = [member]
            try:
                return await member.run()
            except EvictedError as error:
                await evicted(home, error, say)
            except _native.StateFullError as error:
                raise DiskFullError(f"{out}: {error}") from error
            except (_native.StateError, OSError) as error:
                raise GossamerError(f"{out}: {error}") from error
    finally:
        if watching is not None:
            watching.cancel()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
        with contextlib.suppress(Exception):
            await engine.close()
        (out / "pid").unlink(missing_ok=True)


async def _stop_when(ended: asyncio.Event, stop: Callable[[], None]) -> None:
    await ended.wait()
    stop()
