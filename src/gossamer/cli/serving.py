"""Serving until Ctrl-C: where it listens, what it says of where it is and how to get in, what ends it."""

import asyncio
import signal
import socket
import sys
from pathlib import Path
from types import FrameType

from gossamer import words
from gossamer.control.tokens import read_token, token_file
from gossamer.settings.model import ControlSettings


def tell_where(url: str, directory: Path, *, plain: bool) -> None:
    """On the standard error. The token itself is shown to a terminal only, never to a log."""
    file = token_file(directory)
    if sys.stderr.isatty():
        # In the fragment: a browser does not send it, and the page takes it out of the address.
        token = read_token(file)
        print(f"dashboard: {url}/#token={token}", file=sys.stderr)
    else:
        print(
            f"control API and dashboard: {url} (token in {words.plain(str(file))})", file=sys.stderr
        )
    if plain:
        print(
            "the control API listens beyond this machine without TLS: who can listen on the way "
            "can read the token; see control.certificate and control.key",
            file=sys.stderr,
        )
    sys.stderr.flush()


def listen_somewhere(settings: ControlSettings, *, any_port: bool) -> socket.socket:
    """At the port of the settings; where that is taken and none was asked for (`any_port`), at any."""
    # A command that only says where it is served need not load a web server.
    from gossamer.control.api.server import PortTakenError, listen  # noqa: PLC0415

    try:
        return listen(settings, "--port")
    except PortTakenError:
        if not any_port:
            raise
        return listen(settings.model_copy(update={"port": 0}), "--port")


def end_on_signals(ended: asyncio.Event) -> None:
    """Sets the event on Ctrl-C, SIGTERM and, but for `nohup`, the end of the terminal."""
    loop = asyncio.get_running_loop()

    def note(_number: int, _frame: FrameType | None) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(ended.set)

    # Not those of the event loop, which go with it: a second one must not break off what is done at the end.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if number is not signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, note)
