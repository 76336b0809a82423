"""`gossamer cluster`: control node, crawl nodes and an engine on this machine, until done."""

import asyncio
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
from rich.console import Console
from rich.text import Text

from gossamer.cli.assignments import assignments
from gossamer.cli.options import (
    AllowPrivate,
    Config,
    Delay,
    Engine,
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
    Snapshots,
    Urls,
    cluster_overrides,
    crawl_overrides,
    effective_settings,
    saved,
)
from gossamer.cli.serving import tell_where
from gossamer.cli.summary import as_json, had_nothing, show_refused, show_summary
from gossamer.cli.view import Target, View, make_view
from gossamer.cluster.local import LocalCluster
from gossamer.cluster.shared_settings import engine_access
from gossamer.cluster.summary import Summary
from gossamer.control.leader.backup import Backup
from gossamer.engine import Access
from gossamer.errors import SettingsError
from gossamer.library.seeds import Refused, read_seeds
from gossamer.logging import Level, configure
from gossamer.node.clustered import NativeSeeds
from gossamer.node.directory import prepare, save_settings, seeds_are_safe
from gossamer.node.leftovers import bring_back_files, finish_files
from gossamer.node.standalone import Interrupt
from gossamer.node.start_check import check_start
from gossamer.settings import CrawlSettings, load_saved
from gossamer.settings.table import rows, shown, values


def cluster(
    urls: Urls = None,
    *,
    nodes: Annotated[int, typer.Option(help="Crawl nodes.", min=1, max=256)] = 3,
    engine: Engine = None,
    snapshots: Snapshots = None,
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
    log_level: LogLevel = Level.INFO,
    log_json: LogJson = False,
    json: Json = False,
) -> None:
    """Crawl with a control node and several crawl nodes as processes on this machine."""
    out = out.absolute()
    overrides: dict[str, Any] = crawl_overrides(
        scope=scope,
        max_pages=max_pages,
        max_depth=max_depth,
        delay=delay,
        per_host=per_host,
        allow_private=allow_private,
    )
    overrides |= assignments(settings or []) | cluster_overrides(engine, snapshots, None)
    effective = effective_settings(config, out, overrides, resume=resume)
    if not effective.cluster.snapshots:
        overrides["cluster.snapshots"] = str(out / "snapshots")
        effective = effective_settings(config, out, overrides, resume=resume)
    fixed = None if config else set(overrides)
    _check(effective, saved(out) if resume else None, only=fixed)
    seed_list = [] if resume and not urls and seeds is None else read_seeds(urls or [], seeds)
    taken = _take_seeds(seed_list, effective)
    begun = (out / "control" / "map.json").exists()
    changes = _changes(overrides, effective) if resume and begun else {}
    taken = prepare(out, effective, taken, resume=resume)
    save_settings(out, effective)
    if not begun:
        Backup(out / "control").add_seeds(taken)
    configure(log_level, as_json=log_json)
    interrupt = Interrupt()
    local = LocalCluster(
        out,
        nodes=nodes,
        urls=effective.cluster.engine,
        access=lambda found, token: _access(effective, found, token),
        crawl=effective.cluster.name,
        lease=effective.cluster.lease,
        links_bytes=effective.cluster.links_bytes,
        control_port=effective.control.port,
        log_options=["--log-level", log_level.value, *(["--log-json"] if log_json else [])],
    )
    # One of an earlier run would be taken for ours.
    (out / "control" / "url").unlink(missing_ok=True)
    with interrupt.installed():
        seeds_left = taken if begun else []
        view = make_view(
            title=str(out),
            target=Target(effective.limits.pages, effective.limits.time),
            only_log=log_json,
        )
        summary = asyncio.run(_run(local, view, interrupt, resume, seeds_left, changes))
    seeds_are_safe(out)
    finish_files(out, effective)
    restored = asyncio.run(bring_back_files(out, effective))
    _tell(summary, out, nodes, interrupt, restored)
    if json:
        values = as_json(summary.progress, out) | {
            "nodes": nodes,
            "partitions": summary.partitions,
            "map": summary.epoch,
            "files_brought_back": len(restored),
        }
        print(msgspec.json.encode(values).decode())
    if interrupt.count:
        raise typer.Exit(130)
    if had_nothing(summary.progress):
        raise typer.Exit(1)


def _check(settings: CrawlSettings, before: Path | None, *, only: set[str] | None) -> None:
    """Refuses, before anything is written, what the nodes would refuse or could not go on with.

    `before`: the settings of the crawl that goes on. `only`: names of what may differ from them.
    """
    # The nodes run on this machine: what it has not installed, or cannot read, they have not either.
    check_start(settings, node_name="check")
    if before is None:
        return
    known = load_saved(before)
    old, new = values(known), values(settings)
    fixed = [row.name for row in rows() if not row.live and not _own(row.name)]
    for name in fixed if only is None else [name for name in fixed if _is_given(name, only)]:
        if old[name] != new[name]:
            raise SettingsError(
                f"{name} is fixed when the crawl is started: it is {shown(known)[name]!r} in this one"
            )


def _is_given(setting: str, names: set[str]) -> bool:
    """Whether a setting is among the names: itself, the table it is in, or a key of its table."""
    return any(f"{setting}.".startswith(f"{n}.") or n.startswith(f"{setting}.") for n in names)


def _own(name: str) -> bool:
    """Whether a setting belongs to a process and not to the crawl."""
    return name.startswith(("cluster.", "control."))


def _changes(given: dict[str, Any], settings: CrawlSettings) -> dict[str, Any]:
    """What was given for a crawl that has begun: live settings, for every node."""
    live = [row.name for row in rows() if row.live and not _own(row.name)]
    for name in live:
        keys = [one for one in given if one.startswith(f"{name}.")]
        if keys:
            # The other keys may have changed since the file was written: they must not be taken back.
            raise SettingsError(f"{keys[0]}: give {name} as a whole to a crawl that has begun")
    now = values(settings)
    return {name: now[name] for name in live if _is_given(name, set(given))}


def _take_seeds(seeds: list[str], settings: CrawlSettings) -> list[str]:
    reasons = NativeSeeds().refusals(seeds, settings) if seeds else []
    refused = [Refused(u, r) for u, r in zip(seeds, reasons, strict=True) if r is not None]
    show_refused(refused, total=len(seeds))
    return [url for url, reason in zip(seeds, reasons, strict=True) if reason is None]


def _access(settings: CrawlSettings, urls: list[str], token: Path | None) -> Access:
    own = {"engine": urls} | ({"token": str(token)} if token else {})
    cluster = settings.cluster.model_copy(update=own)
    return engine_access(settings.model_copy(update={"cluster": cluster}))


async def _run(  # noqa: PLR0917
    local: LocalCluster,
    view: View,
    interrupt: Interrupt,
    resume: bool,
    more_seeds: list[str],
    changes: dict[str, Any],
) -> Summary:
    directory = local.out / "control"
    waiting = [directory / "url"]
    with view:

        def show(summary: Summary) -> None:
            if waiting and waiting[0].exists():
                tell_where(waiting.pop().read_text().strip(), directory, plain=False)
            view.show(summary.progress)

        return await local.run(
            show,
            lambda: interrupt.count,
            resume=resume,
            more_seeds=more_seeds,
            changes=changes,
        )


def _tell(
    summary: Summary, out: Path, nodes: int, interrupt: Interrupt, restored: list[Path]
) -> None:
    console = Console(stderr=True)
    show_summary(
        console,
        summary.progress,
        out,
        interrupted=bool(interrupt.count),
        go_on=f"gossamer cluster --nodes {nodes} --resume --out {out}",
        files=out / "nodes" / "*",
    )
    if restored:
        console.print(Text(f"{len(restored)} files of lost disks were brought back from copies."))
