"""`gossamer cluster`: control node, crawl nodes and an engine on this machine, until done."""

import asyncio
import sys
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
from rich.console import Console
from rich.text import Text

from gossamer.cli.assignments import assignments
from gossamer.cli.chosen import (
    AllowPrivate,
    Config,
    Delay,
    Engine,
    Json,
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
    saved,
)
from gossamer.cli.serving import tell_where
from gossamer.cli.summary import as_json, show_refused, show_summary
from gossamer.cli.view import Target, make_view
from gossamer.cluster.local import LocalCluster
from gossamer.control.copy import Copy
from gossamer.control.summary import Summary
from gossamer.engine import Access
from gossamer.node.clustered import NativeSeeds, access
from gossamer.node.directory import prepare, save_settings, seeds_are_safe
from gossamer.node.leftovers import bring_back_files, finish_files
from gossamer.node.standalone import Interrupt
from gossamer.path.seed import Refused, read_seeds
from gossamer.settings import CrawlSettings, load


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
    effective = load(config or (saved(out) if resume else None), overrides)
    if not effective.cluster.snapshots:
        overrides["cluster.snapshots"] = str(out / "snapshots")
        effective = load(config or (saved(out) if resume else None), overrides)
    seed_list = [] if resume and not urls and seeds is None else read_seeds(urls or [], seeds)
    taken = _take_seeds(seed_list, effective)
    taken = prepare(out, effective, taken, resume=resume)
    save_settings(out, effective)
    begun = (out / "control" / "map.json").exists()
    if not begun:
        Copy(out / "control").add_seeds(taken)
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
        say=lambda text: print(text, file=sys.stderr, flush=True),
    )
    with interrupt.installed():
        changes = {
            name: value
            for name, value in overrides.items()
            if begun and not name.startswith(("cluster.", "control."))
        }
        seeds_left = taken if begun else []
        summary = asyncio.run(_run(local, effective, interrupt, resume, seeds_left, changes))
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


def _take_seeds(seeds: list[str], settings: CrawlSettings) -> list[str]:
    reasons = NativeSeeds().refusals(seeds, settings) if seeds else []
    refused = [Refused(u, r) for u, r in zip(seeds, reasons, strict=True) if r is not None]
    show_refused(refused, total=len(seeds))
    return [url for url, reason in zip(seeds, reasons, strict=True) if reason is None]


def _access(settings: CrawlSettings, urls: list[str], token: Path | None) -> Access:
    own = {"engine": urls} | ({"token": str(token)} if token else {})
    cluster = settings.cluster.model_copy(update=own)
    return access(settings.model_copy(update={"cluster": cluster}))


async def _run(  # noqa: PLR0917
    local: LocalCluster,
    settings: CrawlSettings,
    interrupt: Interrupt,
    resume: bool,
    more_seeds: list[str],
    changes: dict[str, Any],
) -> Summary:
    target = Target(settings.limits.pages, settings.limits.time)
    directory = local.out / "control"
    waiting = [directory / "url"]
    waiting[0].unlink(missing_ok=True)
    with make_view(title=str(local.out), target=target) as view:

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
        out / "nodes" / "*",
        interrupted=bool(interrupt.count),
        go_on=f"gossamer cluster --nodes {nodes} --resume --out {out}",
    )
    if restored:
        console.print(Text(f"{len(restored)} files of lost disks were brought back from copies."))
