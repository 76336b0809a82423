"""`gossamer crawls --serve`: the page of a folder, until Ctrl-C."""

import asyncio
import contextlib
import socket
import sys
from pathlib import Path
from typing import Final

from gossamer.cli.control_settings import control_settings
from gossamer.cli.serving import end_on_signals, listen_somewhere, tell_where
from gossamer.control.alone import alone
from gossamer.control.api.server import check, serve_app
from gossamer.crawls.api import make_crawls_app
from gossamer.crawls.listing import list_crawls, touched
from gossamer.crawls.service import OWN, CrawlsService
from gossamer.errors import FileError, UsageError
from gossamer.settings.model import ControlSettings
from gossamer.words import command

PORT: Final = 8790


def serve_page(
    folder: Path, *, port: int | None, address: str | None, settings: list[str], quiet: bool
) -> None:
    """`settings`: of `[control]`, as on the command line."""
    control = control_settings(
        ControlSettings(port=PORT), settings, port=port, address=address, whose="the page"
    )
    # Is there, and can be read.
    list_crawls(folder)
    if touched(folder) is not None:
        raise UsageError(
            f"{folder} is a crawl itself",
            do=f"serve the folder that it is in, or look at it with: {command('open', folder)}",
        )
    check(control)
    own = folder.absolute() / OWN
    try:
        own.mkdir(mode=0o700, exist_ok=True)
        own.chmod(0o700)
    except OSError as error:
        raise FileError(f"cannot use {own}: {error.strerror}") from error
    with alone(own, f"the page of {folder}"):
        listener = listen_somewhere(control, any_port=port is None)
        asyncio.run(_serve(CrawlsService(folder, control), control, own, listener, quiet=quiet))


async def _serve(
    service: CrawlsService,
    control: ControlSettings,
    own: Path,
    listener: socket.socket,
    *,
    quiet: bool,
) -> None:
    ended = asyncio.Event()
    end_on_signals(ended)
    async with contextlib.AsyncExitStack() as stack:
        await stack.enter_async_context(service.running())
        serving = await stack.enter_async_context(
            serve_app(lambda entrance: make_crawls_app(service, entrance), control, own, listener)
        )
        if not quiet:
            await asyncio.to_thread(tell_where, serving.url, own, plain=serving.plain)
            print("Ctrl-C ends the page; crawls go on.", file=sys.stderr, flush=True)
        await ended.wait()
