"""`gossamer crawl`: a crawl on this machine."""

import asyncio
import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer

from gossamer.cli.anew import begin_anew
from gossamer.cli.console import console
from gossamer.cli.effective import crawl_overrides, effective_settings, least_level
from gossamer.cli.json_output import print_json
from gossamer.cli.seeds import take_seeds, tell_refused
from gossamer.cli.serving import tell_where
from gossamer.cli.stopped import check_kind
from gossamer.cli.summary import as_json, ended_as, had_nothing, show_summary
from gossamer.cli.verbose import log_what_counts
from gossamer.cli.view import Target, View, make_view
from gossamer.errors import UsageError
from gossamer.library.seeds import Refused
from gossamer.logging import configure
from gossamer.model.choices import Level, ScopeKind
from gossamer.model.progress import Progress
from gossamer.node.directory import prepare
from gossamer.node.recent import visit_rows
from gossamer.node.runs import RunRecord, recorded
from gossamer.node.standalone import Interrupt, Standalone
from gossamer.node.start_check import check_start
from gossamer.node.unanswered import lost_seeds
from gossamer.settings.assignments import assignments
from gossamer.settings.model import ControlSettings


def crawl(
    urls: list[str] | None,
    *,
    seeds: Path | None,
    out: Path,
    scope: ScopeKind | None,
    max_pages: int | None,
    max_depth: int | None,
    delay: str | None,
    per_host: int | None,
    config: Path | None,
    settings: list[str] | None,
    allow_private: bool,
    resume: bool,
    serve: bool,
    serve_port: int | None,
    stay: bool,
    quiet: bool,
    verbose: bool,
    log_level: Level,
    log_json: bool,
    json: bool,
) -> None:
    """Crawls; the options are declared in `gossamer.cli.start`."""
    least = least_level(log_level, quiet=quiet, verbose=verbose)
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
    if resume:
        check_kind(out, cluster=False)
    effective = effective_settings(config, out, overrides, resume=resume)
    served = serve or serve_port is not None
    if stay and not served:
        raise UsageError("--stay waits for seeds that nobody could bring", do="give --serve too")
    # Before the directory is begun: what is refused leaves nothing behind.
    policies = check_start(effective)
    none_given = resume and not urls and seeds is None
    seed_list = (
        [] if none_given else take_seeds(urls, seeds, effective, quiet=quiet, verbose=verbose)
    )
    if served:
        _check_serving(effective.control)
    if none_given:
        seed_list = lost_seeds(out)
    cleared = not resume and begin_anew(out, quiet=quiet)
    seed_list = prepare(out, effective, seed_list, resume=resume, cleared=cleared)
    configure(least, as_json=log_json)
    log_what_counts(effective, seed_list)
    interrupt = Interrupt()
    standalone = Standalone(out, effective, served=served, stay=stay, policies=policies)
    with interrupt.installed(), recorded(out, "crawl", resumed=resume) as record:
        view = _view(standalone, out, only_log=log_json or quiet)
        running = _run(
            standalone,
            out,
            seed_list,
            interrupt,
            view,
            record,
            resumed=resume,
            served=served,
            quiet=quiet,
        )
        progress = asyncio.run(running)
        interrupted = bool(interrupt.count) or standalone.stop_wanted
        record.end(ended_as(progress, interrupted=interrupted), pages=progress.pages)
    show_summary(
        console(stderr=True, quiet=quiet),
        progress,
        out,
        interrupted=interrupted,
        unsaved=standalone.unsaved,
        limits=standalone.settings.limits,
    )
    if json:
        print_json(as_json(progress, out, interrupted=interrupted))
    if interrupt.count:
        raise typer.Exit(130)
    if standalone.unsaved or had_nothing(progress):
        raise typer.Exit(1)


def _view(standalone: Standalone, out: Path, *, only_log: bool) -> View:
    limits = standalone.settings.limits
    return make_view(title=str(out), target=Target(limits.pages, limits.time), only_log=only_log)


async def _run(  # noqa: PLR0917
    standalone: Standalone,
    out: Path,
    seeds: list[str],
    interrupt: Interrupt,
    view: View,
    record: RunRecord,
    *,
    resumed: bool,
    served: bool,
    quiet: bool,
) -> Progress:
    async with contextlib.AsyncExitStack() as stack:
        await stack.enter_async_context(standalone)
        await asyncio.to_thread(record.hold)
        pages = (await standalone.reading()).pages if resumed else 0
        await asyncio.to_thread(record.begin, pages=pages)
        refused = await standalone.add_seeds(seeds)
        tell_refused(refused, left=len(seeds) - len(refused))
        shows: list[Callable[[Progress], None]] = []
        if served:
            shows.append(await _serve(stack, standalone, out, seeds, refused, quiet=quiet))
        with view:
            shows.append(view.show)

            def show(progress: Progress) -> None:
                for one in shows:
                    one(progress)

            progress = await standalone.run(show, interrupt)
    # With what ended while it was closed.
    return standalone.counted(progress)


def _check_serving(settings: ControlSettings) -> None:
    """Raises what would keep the control API from being served: an address, a port, a certificate."""
    from gossamer.control.api.server import check, listen  # noqa: PLC0415

    check(settings)
    listen(settings, "--serve-port or control.port").close()


async def _serve(
    stack: contextlib.AsyncExitStack,
    standalone: Standalone,
    out: Path,
    seeds: list[str],
    refused: list[Refused],
    *,
    quiet: bool,
) -> Callable[[Progress], None]:
    """Serves the control API as long as the stack stands; gives what takes the readings."""
    # Only when asked for: a crawl without it need not load a web server.
    from gossamer.control.api.server import listen, serve  # noqa: PLC0415
    from gossamer.control.standalone_service import StandaloneService  # noqa: PLC0415

    directory = out / "control"
    await asyncio.to_thread(directory.mkdir, mode=0o700, exist_ok=True)
    service = StandaloneService(standalone, out, visit_rows)
    await stack.enter_async_context(service)
    await service.begun_with(seeds, {one.url: one.reason for one in refused})
    settings = standalone.settings.control
    listener = listen(settings, "--serve-port or control.port")
    serving = await stack.enter_async_context(serve(service, settings, directory, listener))
    # Before the server waits for them, watchers are let go.
    stack.callback(service.let_go)
    service.served_at(serving.url)
    if not quiet:
        await asyncio.to_thread(tell_where, serving.url, directory, plain=serving.plain)
    return service.take
