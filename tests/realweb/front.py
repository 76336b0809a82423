"""The one nginx in front of all applications of a run. Its access log is the only source of measurements."""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.realweb.app import CACHE, PORT, App, Site
from tests.realweb.backends import process

# `escape=none`: bytes of the request line as they came, so that legacy charsets can be judged.
CONFIG = """\
daemon off;
{user}
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 1024; }}
http {{
    include /etc/nginx/mime.types;
    default_type application/octet-stream;
    log_format requests escape=none '$msec $host $request_uri $status $bytes_sent';
    access_log {folder}/access.log requests;
    server_names_hash_bucket_size 128;
    keepalive_requests 100000;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    types_hash_max_size 4096;
{servers}
}}
"""
SERVER = """\
    server {{
        listen {address}:{port};
        server_name {address};
        {directives}
    }}
"""


class Front:
    """A running nginx; `mark` and `since` cut its log into the runs of crawlers."""

    def __init__(self, log: Path) -> None:
        self._log = log

    def mark(self) -> int:
        """The end of the log by now."""
        return self._log.stat().st_size

    def since(self, mark: int) -> bytes:
        """What was requested after a mark."""
        with self._log.open("rb") as file:
            file.seek(mark)
            return file.read()


@contextlib.contextmanager
def front(apps: Sequence[App]) -> Iterator[Front]:
    """nginx for these applications, until the block ends."""
    sites = [site for app in apps for site in app.sites()]
    runs = CACHE / "runs"
    runs.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="front-", dir=runs) as folder:
        config = Path(folder) / "nginx.conf"
        config.write_text(_config(sites, folder))
        log = Path(folder) / "access.log"
        nginx = shutil.which("nginx") or "/usr/sbin/nginx"
        command: list[str | Path] = [nginx, "-p", folder, "-c", config, "-e", f"{folder}/error.log"]
        errors = Path(folder) / "start.log"
        with process(command, ready=(sites[0].address, PORT), log=errors):
            yield Front(log)


def _config(sites: Sequence[Site], folder: str) -> str:
    servers = "".join(
        SERVER.format(address=site.address, port=PORT, directives=site.directives) for site in sites
    )
    # Files below a home directory and sockets of php-fpm are then readable for the worker.
    user = "user root;" if os.geteuid() == 0 else ""
    return CONFIG.format(folder=folder, servers=servers, user=user)
