"""`gossamer crawl`: a crawl on this machine."""

import asyncio
import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
from rich.console import Console

from gossamer.cli.assignments import assignments
from gossamer.cli.options import (
    AllowPrivate,
    Config,
    Delay,
    Json,
    LogJson,
    LogLevel,
    MaxDepth,
    MaxPages,
    Out,
    PerHost,
    Scope,
    Seeds,
    Set,
    Urls,
    crawl_overrides,
    effective_settings,
)
from gossamer.cli.serving import tell_where
from gossamer.cli.summary import as_json, had_nothing, show_refused, show_summary
from gossamer.cli.view import Target, View, make_view
from gossamer.errors import UsageError
from gossamer.library.seeds import read_seeds
from gossamer.logging import Level, configure
from gossamer.model.progress import Progress
from gossamer.node.directory import prepare
from gossamer.node.recent import visit_rows
from gossamer.node.standalone import Interrupt, Standalone
from gossamer.node.start_check import check_start


def crawl(
    urls: Urls = None,
    *,
    seeds: Seeds = None,
    out: Out = Path("crawl-out"),
    scope: Scope = None,
    max_pages: MaxPages = None,
    max_depth: MaxDepth = None,
    delay: Delay = None,
    per_host: PerHost = None,
    config: Config = None,
    settings: Set = None,
    allow_private: AllowPrivate = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the crawl in --out.")
    ] = False,
    serve: Annotated[
        bool, typer.Option("--serve", help="Serve dashboard and control API meanwhile.")
    ] = False,
    serve_port: Annotated[
        int | None, typer.Option(help="Port of the control API; implies --serve.")
    ] = None,
    stay: Annotated[
        bool,
        typer.Option("--stay", help="With --serve: wait for further seeds when all is crawled."),
    ] = False,
    log_level: LogLevel = Level.INFO,
    log_json: LogJson = False,
    json: Json = False,
) -> None:
    """Crawl from the given seeds, politely, into a directory."""
    overrides: dict[str, Any] = crawl_overrides(
        scope=scope,
        max_pages=max_pages,
        max_depth=max_depth,
        delay=delay,
        per_host=per_host,
        allow_private=allow_private,
    )
    if serve_port is not None:
        overrides["control.port"] = serve_port
    overrides |= assignments(settings or [])
    effective = effective_settings(config, out, overrides, resume=resume)
    served = serve or serve_port is not None
    if stay and not served:
        raise UsageError("--stay needs --serve: nobody could bring further seeds")
    seed_list = [] if resume and not urls and seeds is None else read_seeds(urls or [], seeds)
    # Before the directory is begun: what is wrong use leaves nothing behind.
    policies = check_start(effective)
    seed_list = prepare(out, effective, seed_list, resume=resume)
    configure(log_level, as_json=log_json)
    interrupt = Interrupt()
    standalone = Standalone(out, effective, served=served, stay=stay, policies=policies)
    with interrupt.installed():
        view = _view(standalone, out, log_json=log_json)
        progress = asyncio.run(_run(standalone, out, seed_list, interrupt, view, served=served))
    console = Console(stderr=True)
    show_summary(
        console,
        progress,
        out,
        interrupted=bool(interrupt.count) or standalone.stop_wanted,
        unsaved=standalone.unsaved,
    )
    if json:
        print(msgspec.json.encode(as_json(progress, out)).decode())
    if interrupt.count:
        raise typer.Exit(130)
    if standalone.unsaved or had_nothing(progress):
        raise typer.Exit(1)


def _view(standalone: Standalone, out: Path, *, log_json: bool) -> View:
    limits = standalone.settings.limits
    return make_view(title=str(out), target=Target(limits.pages, limits.time), only_log=log_json)


async def _run(
    standalone: Standalone,
    out: Path,
    seeds: list[str],
    interrupt: Interrupt,
    view: View,
    *,
    served: bool,
) -> Progress:
    async with contextlib.AsyncExitStack() as stack:
        await stack.enter_async_context(standalone)
        refused = await standalone.add_seeds(seeds)
        show_refused(refused, total=len(seeds))
        shows: list[Callable[[Progress], None]] = []
        if served:
            shows.append(await _serve(stack, standalone, out))
        with view:
            shows.append(view.show)

            def show(progress: Progress) -> None:
                for one in shows:
                    one(progress)

            return await standalone.run(show, interrupt)


async def _serve(
    stack: contextlib.AsyncExitStack, standalone: Standalone, out: Path
) -> Callable[[Progress], None]:
    """Serves the control API as long as the stack stands; gives what takes the readings."""
    # Only when asked for: a crawl without it need not load a web server.
    from gossamer.control.api.server import listen, serve  # noqa: PLC0415
    from gossamer.control.standalone_service import StandaloneService  # noqa: PLC0415

    directory = out / "control"
    await asyncio.to_thread(directory.mkdir, mode=0o700, exist_ok=True)
    service = StandaloneService(standalone, out, visit_rows)
    await stack.enter_async_context(service)
    settings = standalone.settings.control
    listener = listen(settings, "--serve-port or control.port")
    serving = await stack.enter_async_context(serve(service, settings, directory, listener))
    # Before the server waits for them, watchers are let go.
    stack.callback(service.let_go)
    service.served_at(serving.url)
    await asyncio.to_thread(tell_where, serving.url, directory, plain=serving.plain)
    return service.take
