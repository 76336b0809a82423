"""Processes behind the front: each with its own configuration and socket, ended when the block ends."""

import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

START_SECONDS = 60.0


@contextlib.contextmanager
def process(
    command: Sequence[str | Path],
    *,
    ready: Path | tuple[str, int],
    log: Path,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Iterator[subprocess.Popen[bytes]]:
    """A server in the foreground that answers at `ready`, a Unix socket or an address."""
    if isinstance(ready, Path):
        ready.unlink(missing_ok=True)
    if _answers(ready):
        raise RuntimeError(f"another process answers at {ready} already, so {command[0]} cannot")
    with log.open("ab") as output:
        running = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
            cwd=folder, env={**os.environ, **(environment or {})},
            # Ctrl-C goes to the harness alone, which then stops its processes in order.
            start_new_session=True,
        )  # fmt: skip
    try:
        _await(running, ready, log)
        yield running
    finally:
        stop(running)


def stop(running: subprocess.Popen[bytes], seconds: float = 10.0) -> None:
    """Ends a process started here: asked first, killed if it does not listen, and with it what it started."""
    running.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        running.wait(seconds)
    # Its session is its own. Children of fcgiwrap outlive their parent, and would answer the next run.
    with contextlib.suppress(ProcessLookupError):
        os.killpg(running.pid, signal.SIGKILL)
    running.wait()


def _await(running: subprocess.Popen[bytes], ready: Path | tuple[str, int], log: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while not _answers(ready):
        if running.poll() is not None or time.monotonic() > end:
            last = "\n".join(log.read_text(errors="replace").splitlines()[-10:])
            raise RuntimeError(f"{running.args!r} does not answer at {ready}:\n{last}")
        time.sleep(0.05)


def _answers(ready: Path | tuple[str, int]) -> bool:
    family = socket.AF_UNIX if isinstance(ready, Path) else socket.AF_INET
    with socket.socket(family) as probe:
        try:
            probe.connect(str(ready) if isinstance(ready, Path) else ready)
        except OSError:
            return False
    return True


PHP_PORT = 29000
"""Of php-fpm, at the address of its application."""

_POOL = """\
[global]
error_log = {folder}/php-fpm.log
daemonize = no
[www]
listen = {address}:{port}
pm = static
pm.max_children = 4
clear_env = no
{user}
{lines}
"""
_PHP = r"""
        location ~ ^(?<script>.+?\.php)(?<info>/.*)?$ {{
            try_files $script =404;
            include /etc/nginx/fastcgi_params;
            # wget2 and newer packages of nginx leave the port out; programs redirect to the host that they know.
            fastcgi_param HTTP_HOST $host:$server_port;
            fastcgi_param SCRIPT_FILENAME $document_root$script;
            fastcgi_param SCRIPT_NAME $script;
            fastcgi_param PATH_INFO $info;
            fastcgi_read_timeout 300;
            fastcgi_buffer_size 64k;
            fastcgi_buffers 8 64k;
            fastcgi_pass {address}:{port};
        }}"""


@contextlib.contextmanager
def php_fpm(
    folder: Path,
    address: str,
    *,
    settings: Mapping[str, str] | None = None,
    environment: Mapping[str, str] | None = None,
) -> Iterator[None]:
    """php-fpm at this address, with settings of php.ini and variables for the scripts."""
    programs = sorted(Path("/usr/sbin").glob("php-fpm*"))
    if not programs:
        raise RuntimeError("php-fpm is not installed")
    root = os.geteuid() == 0
    lines = [f"php_admin_value[{name}] = {value}" for name, value in (settings or {}).items()]
    config = folder / "php-fpm.conf"
    config.write_text(
        _POOL.format(
            folder=folder, address=address, port=PHP_PORT, lines="\n".join(lines),
            user="user = root\ngroup = root" if root else "",
        )
    )  # fmt: skip
    command: list[str | Path] = [programs[-1], "-F", "-y", config, *(["-R"] if root else [])]
    ready = (address, PHP_PORT)
    with process(command, ready=ready, log=folder / "php.log", environment=environment):
        yield


def php_location(address: str) -> str:
    """For a server block: scripts go to the php-fpm of this address."""
    return _PHP.format(address=address, port=PHP_PORT)
