"""`gossamer cluster`: control node, crawl nodes and an engine on this machine, until done."""

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import typer
from rich.text import Text

from gossamer._native import disk_use
from gossamer.cli.anew import begin_anew
from gossamer.cli.console import console
from gossamer.cli.effective import (
    cluster_overrides,
    crawl_overrides,
    effective_settings,
    least_level,
    saved,
)
from gossamer.cli.json_output import print_json
from gossamer.cli.seeds import take_seeds
from gossamer.cli.serving import tell_where
from gossamer.cli.stopped import check_kind
from gossamer.cli.summary import as_json, ended_as, had_nothing, show_summary
from gossamer.cli.verbose import log_what_counts
from gossamer.cli.view import Target, View, make_view
from gossamer.cluster.local import LocalCluster
from gossamer.cluster.shared_settings import engine_access
from gossamer.cluster.store import open_store
from gossamer.cluster.summary import Summary, last_summary
from gossamer.control.api.server import check as check_serving
from gossamer.control.leader.backup import Backup
from gossamer.engine import Access, connect
from gossamer.errors import SettingsError
from gossamer.logging import configure
from gossamer.model.choices import Level, ScopeKind
from gossamer.node.directory import prepare, save_settings, seeds_are_safe
from gossamer.node.leftovers import bring_back_files, finish_files
from gossamer.node.runs import check_free, recorded
from gossamer.node.standalone import Interrupt
from gossamer.node.start_check import check_start
from gossamer.node.unanswered import lost_seeds
from gossamer.settings import CrawlSettings, load_saved
from gossamer.settings.assignments import assignments
from gossamer.settings.model import LimitSettings
from gossamer.settings.rows import rows
from gossamer.settings.table import shown, values
from gossamer.words import command


def cluster(
    urls: list[str] | None,
    *,
    nodes: int,
    engine: str | None,
    snapshots: str | None,
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
    quiet: bool,
    verbose: bool,
    log_level: Level,
    log_json: bool,
    json: bool,
) -> None:
    """Crawls with many processes; the options are declared in `gossamer.cli.start`."""
    least = least_level(log_level, quiet=quiet, verbose=verbose)
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
    if resume:
        check_kind(out, cluster=True)
        check_free(out)
    effective = effective_settings(config, out, overrides, resume=resume)
    if not effective.cluster.snapshots:
        overrides["cluster.snapshots"] = str(out / "snapshots")
        effective = effective_settings(config, out, overrides, resume=resume)
    fixed = None if config else set(overrides)
    _check(effective, saved(out) if resume else None, only=fixed)
    none_given = resume and not urls and seeds is None
    taken = [] if none_given else take_seeds(urls, seeds, effective, quiet=quiet, verbose=verbose)
    _check_outside(effective)
    if none_given:
        taken = lost_seeds(out)
    cleared = not resume and begin_anew(out, quiet=quiet)
    begun = (out / "control" / "map.json").exists()
    changes = _changes(overrides, effective) if resume and begun else {}
    taken = prepare(out, effective, taken, resume=resume, cleared=cleared)
    save_settings(out, effective)
    if not begun:
        Backup(out / "control").add_seeds(taken)
    configure(least, as_json=log_json)
    log_what_counts(effective, taken)
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
        log_options=["--log-level", least.value, *(["--log-json"] if log_json else [])],
    )
    with interrupt.installed(), recorded(out, "cluster", resumed=resume) as record:
        before = last_summary(out) if resume else None
        record.begin(pages=before.pages if before is not None else 0)
        # One of an earlier run would be taken for ours.
        (out / "control" / "url").unlink(missing_ok=True)
        seeds_left = taken if begun else []
        view = make_view(
            title=str(out),
            target=Target(effective.limits.pages, effective.limits.time),
            only_log=log_json or quiet,
        )
        summary = asyncio.run(
            _run(local, view, interrupt, resume, seeds_left, changes, quiet=quiet)
        )
        # Before others may go on with it: they would have files open.
        seeds_are_safe(out)
        finish_files(out, effective)
        restored = asyncio.run(bring_back_files(out, effective))
        how = ended_as(summary.progress, interrupted=_interrupted(summary, interrupt))
        record.end(how, pages=summary.progress.pages)
    # The control node looked before the last files were finished.
    summary.progress = msgspec.structs.replace(summary.progress, disk=disk_use(out))
    if not quiet:
        _tell(summary, out, nodes, interrupt, restored, effective.limits)
    if json:
        values = as_json(summary.progress, out, interrupted=_interrupted(summary, interrupt)) | {
            "nodes": nodes,
            "partitions": summary.partitions,
            "map": summary.epoch,
            "files_brought_back": len(restored),
        }
        print_json(values)
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


def _check_outside(settings: CrawlSettings) -> None:
    """Refuses what the processes could not use: address and certificate of the API, snapshots, an engine."""
    check_serving(settings.control)
    place = settings.cluster.snapshots
    if "://" in place and not place.startswith("file://"):
        # A directory is made when it is needed.
        open_store(place)
    if settings.cluster.engine:
        asyncio.run(_reach(settings))


async def _reach(settings: CrawlSettings) -> None:
    access = engine_access(settings)
    line = await connect(access, settings.cluster.name, "gossamer cluster")
    await line.close()


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
    *,
    quiet: bool,
) -> Summary:
    directory = local.out / "control"
    waiting = [directory / "url"]
    with view:

        def show(summary: Summary) -> None:
            if waiting and waiting[0].exists():
                url = waiting.pop().read_text().strip()
                if not quiet:
                    tell_where(url, directory, plain=False)
            view.show(summary.progress)

        return await local.run(
            show,
            lambda: interrupt.count,
            resume=resume,
            more_seeds=more_seeds,
            changes=changes,
        )


def _interrupted(summary: Summary, interrupt: Interrupt) -> bool:
    return bool(interrupt.count) or summary.state == "stopping"


def _tell(  # noqa: PLR0917
    summary: Summary,
    out: Path,
    nodes: int,
    interrupt: Interrupt,
    restored: list[Path],
    limits: LimitSettings,
) -> None:
    told = console(stderr=True)
    show_summary(
        told,
        summary.progress,
        out,
        interrupted=_interrupted(summary, interrupt),
        go_on=command("cluster", "--nodes", str(nodes), "--resume", "--out", out),
        files=out / "nodes" / "*",
        limits=limits,
    )
    if restored:
        told.print(Text(f"{len(restored)} files of lost disks were brought back from copies."))
