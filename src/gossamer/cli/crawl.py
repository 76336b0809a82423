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
from gossamer.cli.chosen import saved
from gossamer.cli.serving import tell_where
from gossamer.cli.summary import as_json, show_refused, show_summary
from gossamer.cli.view import Target, make_view
from gossamer.errors import UsageError
from gossamer.model.progress import Progress
from gossamer.node.directory import prepare
from gossamer.node.standalone import Interrupt, Standalone
from gossamer.path.seed import read_seeds
from gossamer.settings import load
from gossamer.settings.model import ScopeKind


def crawl(
    urls: Annotated[list[str] | None, typer.Argument(help="Seeds.", metavar="URL...")] = None,
    *,
    seeds: Annotated[
        Path | None, typer.Option(help="File with a seed per line; - for standard input.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Where everything goes.")] = Path("crawl-out"),
    scope: Annotated[
        ScopeKind | None, typer.Option(help="What links must share with a seed.")
    ] = None,
    max_pages: Annotated[int | None, typer.Option(help="Stop after so many pages.")] = None,
    max_depth: Annotated[int | None, typer.Option(help="Links from a seed, at most.")] = None,
    delay: Annotated[
        str | None, typer.Option(help="Shortest gap between visits to a host, such as 1s.")
    ] = None,
    per_host: Annotated[int | None, typer.Option(help="Connections to a host.")] = None,
    config: Annotated[Path | None, typer.Option(help="Settings as TOML.")] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="Any setting, as stage.name=value.", metavar="NAME=VALUE"),
    ] = None,
    allow_private: Annotated[
        bool, typer.Option("--allow-private", help="Visit loopback and private addresses.")
    ] = False,
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
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object at the end.")] = False,
) -> None:
    """Crawl from the given seeds, politely, into a directory."""
    overrides: dict[str, Any] = {
        name: value
        for name, value in {
            "scope.kind": scope.value if scope else None,
            "limits.pages": max_pages,
            "limits.depth": max_depth,
            "politeness.delay": delay,
            "politeness.per_host": per_host,
            "fetch.allow_private": True if allow_private else None,
            "control.port": serve_port,
        }.items()
        if value is not None
    }
    overrides.update(assignments(settings or []))
    effective = load(config or (saved(out) if resume else None), overrides)
    seed_list = [] if resume and not urls and seeds is None else read_seeds(urls or [], seeds)
    seed_list = prepare(out, effective, seed_list, resume=resume)
    interrupt = Interrupt()
    served = serve or serve_port is not None
    if stay and not served:
        raise UsageError("--stay needs --serve: nobody could bring further seeds")
    standalone = Standalone(out, effective, served=served, stay=stay)
    with interrupt.installed():
        progress = asyncio.run(_run(standalone, out, seed_list, interrupt, served=served))
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
    if standalone.unsaved:
        raise typer.Exit(1)


async def _run(
    standalone: Standalone, out: Path, seeds: list[str], interrupt: Interrupt, *, served: bool
) -> Progress:
    limits = standalone.settings.limits
    target = Target(limits.pages, limits.time)
    async with contextlib.AsyncExitStack() as stack:
        await stack.enter_async_context(standalone)
        refused = await standalone.add_seeds(seeds)
        show_refused(refused, total=len(seeds))
        shows: list[Callable[[Progress], None]] = []
        if served:
            shows.append(await _serve(stack, standalone, out))
        with make_view(title=str(out), target=target) as view:
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
    from gossamer.control.standalone import StandaloneService  # noqa: PLC0415

    directory = out / "control"
    await asyncio.to_thread(directory.mkdir, mode=0o700, exist_ok=True)
    service = StandaloneService(standalone, out)
    await stack.enter_async_context(service)
    settings = standalone.settings.control
    listener = listen(settings, "--serve-port or control.port")
    serving = await stack.enter_async_context(serve(service, settings, directory, listener))
    # Before the server waits for them, watchers are let go.
    stack.callback(service.let_go)
    service.served_at(serving.url)
    tell_where(serving.url, directory, plain=serving.plain)
    return service.take
