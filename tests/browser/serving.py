"""The imagined cluster served by the real API, in a thread of its own."""

import asyncio
import contextlib
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

from tests.browser.imagined import ImaginedCluster

from gossamer.control.api.server import serve
from gossamer.control.event_log import EventLog
from gossamer.control.schemas import EventKind
from gossamer.control.setting_history import SettingHistory
from gossamer.control.submissions import Submissions
from gossamer.control.tokens import read_token
from gossamer.settings.model import ControlSettings


class Served:
    """Where a control node is reached, and with what."""

    def __init__(self, url: str, directory: Path) -> None:
        self.url = url
        self.token = read_token(directory / "token")
        self.read_token = read_token(directory / "token-read")


class ImaginedServer:
    """Can be ended and begun again at the same place."""

    def __init__(self, directory: Path, port: int) -> None:
        self.directory = directory
        self.port = port
        self.cluster: ImaginedCluster
        self.served: Served
        self._loop: asyncio.AbstractEventLoop
        self._end: asyncio.Event
        self._thread: threading.Thread | None = None
        self._failed: BaseException | None = None

    def start(self) -> Served:
        begun = threading.Event()
        self._failed = None
        self._thread = threading.Thread(target=self._run, args=(begun,), daemon=True)
        self._thread.start()
        assert begun.wait(60), "the server did not begin"
        if self._failed is not None:
            raise self._failed
        self.served = Served(f"http://127.0.0.1:{self.port}", self.directory)
        return self.served

    def tell(self, text: str) -> None:
        """Something happens to a node."""
        told = threading.Event()

        def tell() -> None:
            self.cluster.event_log.tell(EventKind.NODE_JOINED, text, node="east")
            told.set()

        self._loop.call_soon_threadsafe(tell)
        assert told.wait(60)

    def stop(self) -> None:
        if self._thread is not None and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._end.set)
            self._thread.join(60)
            assert not self._thread.is_alive()

    def _run(self, begun: threading.Event) -> None:
        try:
            asyncio.run(self._serve(begun))
        except BaseException as error:  # noqa: BLE001
            self._failed = error
            begun.set()

    async def _serve(self, begun: threading.Event) -> None:
        self._loop = asyncio.get_running_loop()
        self._end = asyncio.Event()
        self.directory.mkdir(parents=True, exist_ok=True)
        parts = (
            EventLog(self.directory / "events.jsonl"),
            SettingHistory(self.directory / "settings.jsonl"),
            Submissions(self.directory / "seeds.jsonl"),
        )
        for part in parts:
            part.open()
        self.cluster = ImaginedCluster(*parts)
        ticking = asyncio.create_task(self.cluster.tick())
        try:
            async with serve(self.cluster, ControlSettings(port=self.port), self.directory):
                begun.set()
                await self._end.wait()
                self.cluster.event_log.close()
        finally:
            ticking.cancel()


@contextlib.contextmanager
def imagined(directory: Path) -> Iterator[ImaginedServer]:
    with reserved_port() as port:
        server = ImaginedServer(directory, port)
        try:
            yield server
        finally:
            server.stop()


@contextlib.contextmanager
def reserved_port() -> Iterator[int]:
    """A port for servers that come and go. Nobody is given it meanwhile who asks for any port.

    The socket that holds it does not listen: so a server that reuses addresses can take the port,
    and while there is none, nobody answers.
    """
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holder.bind(("127.0.0.1", 0))
        yield int(holder.getsockname()[1])
