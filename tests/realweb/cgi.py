"""CGI programs behind nginx, by fcgiwrap."""

import contextlib
import shutil
import socket
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.realweb.backends import process

CGI_PACKAGES = ("fcgiwrap",)
CGI_PORT = 29006
CHILDREN = 4
FREE_SECONDS = 90.0
_LOCATION = """
        location {path} {{
            # Not nginx's own file of parameters: it names the host without its port, and a program sees the first of two.
            fastcgi_param HTTP_HOST $host:$server_port;
            fastcgi_param GATEWAY_INTERFACE CGI/1.1;
            fastcgi_param SERVER_PROTOCOL $server_protocol;
            fastcgi_param SERVER_NAME $server_name;
            fastcgi_param SERVER_PORT $server_port;
            fastcgi_param REMOTE_ADDR $remote_addr;
            fastcgi_param REQUEST_METHOD $request_method;
            fastcgi_param REQUEST_URI $request_uri;
            fastcgi_param QUERY_STRING $query_string;
            fastcgi_param SCRIPT_FILENAME {program};
            fastcgi_param SCRIPT_NAME "{script}";
            fastcgi_param PATH_INFO "{info}";
            fastcgi_read_timeout 300;
            fastcgi_pass {address}:{port};
        }}"""


@contextlib.contextmanager
def cgi(folder: Path, address: str, environment: Mapping[str, str]) -> Iterator[None]:
    """Runs the programs that nginx names, with these variables."""
    wrapper = shutil.which("fcgiwrap") or "/usr/sbin/fcgiwrap"
    command = [wrapper, "-f", "-c", str(CHILDREN), "-s", f"tcp:{address}:{CGI_PORT}"]
    log = folder / "cgi.log"
    _await_free((address, CGI_PORT))
    with process(command, ready=(address, CGI_PORT), log=log, environment=environment):
        yield


def _await_free(place: tuple[str, int]) -> None:
    """fcgiwrap does not take an address over: connections of a run that has just ended keep it for a minute."""
    end = time.monotonic() + FREE_SECONDS
    while True:
        with socket.socket() as probe:
            try:
                probe.bind(place)
            except OSError:
                if time.monotonic() > end:
                    raise
            else:
                return
        time.sleep(0.2)


def cgi_location(
    path: str, program: str, address: str, *, script: str = "", info: str = "$uri"
) -> str:
    """For a server block: what matches `path` goes to a program, which is told its own path and the rest."""
    return _LOCATION.format(
        path=path, program=program, address=address, port=CGI_PORT, script=script, info=info
    )
