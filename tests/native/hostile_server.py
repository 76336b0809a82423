"""A server that speaks in raw bytes, so that it can do what no HTTP library would let it do.

Each path is served by a function that gets the connected socket once the request was read.
"""

from __future__ import annotations

import contextlib
import fcntl
import socket
import ssl
import struct
import termios
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

Handler = Callable[[socket.socket], None]


def send(*parts: bytes, pause: float = 0.0) -> Handler:
    """Sends these bytes, with a pause between them, and closes."""

    def handle(connection: socket.socket) -> None:
        for part in parts:
            connection.sendall(part)
            if pause:
                time.sleep(pause)

    return handle


def endless(head: bytes, repeat: bytes, pause: float = 0.0) -> Handler:
    """Sends a head, then the same bytes for ever."""

    def handle(connection: socket.socket) -> None:
        connection.sendall(head)
        while True:
            connection.sendall(repeat)
            if pause:
                time.sleep(pause)

    return handle


def then_reset(*parts: bytes) -> Handler:
    """Sends these bytes, then resets the connection."""

    def handle(connection: socket.socket) -> None:
        for part in parts:
            connection.sendall(part)
        # A reset throws away what the reader has not read.
        until_read(connection)
        reset(connection)

    return handle


def then_silence(*parts: bytes, seconds: float = 20.0) -> Handler:
    """Sends these bytes, then nothing, and keeps the connection open."""

    def handle(connection: socket.socket) -> None:
        for part in parts:
            connection.sendall(part)
        connection.settimeout(seconds)
        while connection.recv(4096):
            pass

    return handle


def until_read(connection: socket.socket, seconds: float = 30.0) -> None:
    """Waits until the other side has taken all that was sent to it, by the system's own account."""
    (host, port), (_, own) = connection.getpeername()[:2], connection.getsockname()[:2]
    # Addresses are in the order of this machine's bytes, ports are not.
    word = struct.unpack("=I", socket.inet_aton(host))[0]
    theirs, ours = f"{word:08X}:{port:04X}", f":{own:04X}"

    def arrived() -> bool:
        return fcntl.ioctl(connection, termios.TIOCOUTQ, bytes(4)) == bytes(4)

    def taken() -> bool:
        rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
        queues = [row[4] for row in rows if row[1] == theirs and row[2].endswith(ours)]
        return all(int(queue.split(":")[1], 16) == 0 for queue in queues)

    end = time.monotonic() + seconds
    for condition in (arrived, taken):
        while not condition() and time.monotonic() < end:
            time.sleep(0.005)


def reset(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


class HostileServer:
    """Serves paths by their handlers on a loopback port of its own; a thread per connection."""

    def __init__(
        self,
        routes: dict[str, Handler] | None = None,
        *,
        default: Handler | None = None,
        on_connect: Handler | None = None,
        tls: ssl.SSLContext | None = None,
        host: str = "127.0.0.1",
    ) -> None:
        self.routes = routes or {}
        self.default = default or send(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
        self.on_connect = on_connect
        self.tls = tls
        self.requests: list[bytes] = []
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._listener = socket.socket(family)
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._listener.bind((host, 0))
        self._listener.listen(256)
        self.port: int = self._listener.getsockname()[1]
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._accept, daemon=True)

    def url(self, path: str = "/", *, scheme: str = "http", host: str = "127.0.0.1") -> str:
        return f"{scheme}://{host}:{self.port}{path}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self._lock:
            remaining = list(self._open)
        for connection in remaining:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self._thread.join(timeout=5)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with self._lock:
            self._open.add(connection)
        raw = connection
        # The other side hanging up is the expected end of most of these conversations.
        with contextlib.suppress(OSError, ValueError):
            try:
                if self.on_connect is not None:
                    self.on_connect(connection)
                    return
                if self.tls is not None:
                    connection = self.tls.wrap_socket(connection, server_side=True)
                head = read_head(connection)
                if head:
                    self.requests.append(head)
                    path = head.split(b" ", 2)[1].decode("ascii")
                    self.routes.get(path, self.default)(connection)
            finally:
                with self._lock:
                    self._open.discard(raw)
                connection.close()
                raw.close()


def read_head(connection: socket.socket) -> bytes:
    data = b""
    while b"\r\n\r\n" not in data:
        more = connection.recv(65536)
        if not more:
            return b""
        data += more
    return data
