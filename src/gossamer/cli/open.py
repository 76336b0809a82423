"""`gossamer open`: the dashboard on a crawl that does not run, read-only, until Ctrl-C."""

import asyncio
import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from gossamer.cli.control_settings import control_settings
from gossamer.cli.look import Look, looked_at
from gossamer.cli.loudness import Quiet, Verbose, loudness
from gossamer.cli.reading import read_log_of
from gossamer.cli.serving import end_on_signals, listen_somewhere, tell_where
from gossamer.cli.start import Supervised
from gossamer.cli.supervised import told_to_end
from gossamer.control.alone import alone
from gossamer.control.api.server import serve
from gossamer.control.archive import ArchivedCrawl, ArchiveService
from gossamer.errors import StateInUseError
from gossamer.node.temporary import temporary_directory
from gossamer.settings import CrawlSettings
from gossamer.settings.model import ControlSettings
from gossamer.words import command


def open_(
    directory: Annotated[
        Path, typer.Argument(help="A crawl that is not running.", metavar="DIR")
    ] = Path("crawl-out"),
    *,
    port: Annotated[
        int | None, typer.Option(help="Port of the dashboard [default: control.port, or any].")
    ] = None,
    address: Annotated[
        str | None, typer.Option(help="Address to listen on [default: control.address].")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="control.names, control.tokens, control.certificate or control.key.",
            metavar="NAME=VALUE",
        ),
    ] = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
    supervised: Supervised = False,
) -> None:
    """Look at a crawl that has ended, or at a copy of one, in the dashboard; Ctrl-C ends it."""
    loud = loudness(quiet=quiet, verbose=verbose)
    with looked_at(directory, host_list=True) as look:
        if look.running:
            raise _in_use(look)
        known = (look.settings or CrawlSettings()).control
        control = control_settings(
            known, settings or [], port=port, address=address, whose="the dashboard"
        )
        with _place(directory) as place:
            visits = read_log_of(directory, loud, look.committed)
            crawl = ArchivedCrawl(look.known(visits.pages), visits, look.nodes, look.readings)
            serving = _serve(
                crawl, control, place, any_port=port is None, quiet=quiet, supervised=supervised
            )
            asyncio.run(serving)


def _in_use(look: Look) -> StateInUseError:
    if look.served_at is not None:
        return StateInUseError(
            f"the crawl in {look.out} is running", do=f"its own dashboard: {look.served_at}"
        )
    return StateInUseError(
        f"the crawl in {look.out} is running without a dashboard",
        do=f"start it with --serve to have one ({command('report', look.out)} works meanwhile)",
    )


@contextlib.contextmanager
def _place(directory: Path) -> Iterator[Path]:
    """Where token and address are: in the crawl's directory, unless that may only be read."""
    control = directory / "control"
    if os.access(control if control.exists() else directory, os.W_OK):
        control.mkdir(mode=0o700, exist_ok=True)
        with alone(control, f"the crawl in {directory}"):
            yield control
        return
    with temporary_directory("gossamer-open-") as other:
        yield other


async def _serve(
    crawl: ArchivedCrawl,
    settings: ControlSettings,
    place: Path,
    *,
    any_port: bool,
    quiet: bool,
    supervised: bool,
) -> None:
    ended = asyncio.Event()
    end_on_signals(ended)
    if supervised:
        told_to_end(ended)
    async with contextlib.AsyncExitStack() as stack:
        service = await stack.enter_async_context(ArchiveService(crawl))
        listener = listen_somewhere(settings, any_port=any_port)
        serving = await stack.enter_async_context(serve(service, settings, place, listener))
        # Before the server waits for them, watchers are let go.
        stack.callback(service.let_go)
        service.served_at(serving.url)
        if not quiet:
            await asyncio.to_thread(tell_where, serving.url, place, plain=serving.plain)
            print(
                f"read-only: {crawl.ending.words} Ctrl-C ends the view.",
                file=sys.stderr,
                flush=True,
            )
        await ended.wait()
