"""`gossamer node`: one crawl node of a cluster."""

import asyncio
from pathlib import Path

import typer
import uvloop

from gossamer.cli.effective import cluster_overrides, least_level
from gossamer.cli.supervised import told_to_end
from gossamer.cli.verbose import log_what_counts
from gossamer.errors import SettingsError
from gossamer.logging import configure, logger
from gossamer.model.choices import Level
from gossamer.node.clustered import run_node
from gossamer.settings import load
from gossamer.settings.assignments import assignments


def node(
    *,
    engine: str | None,
    snapshots: str | None,
    name: str,
    out: Path,
    crawl: str | None,
    config: Path | None,
    settings: list[str] | None,
    quiet: bool,
    verbose: bool,
    log_level: Level,
    log_json: bool,
    supervised: bool,
) -> None:
    """Runs a node; the options are declared in `gossamer.cli.start`."""
    least = least_level(log_level, quiet=quiet, verbose=verbose)
    overrides = assignments(settings or []) | cluster_overrides(engine, snapshots, crawl)
    effective = load(config, overrides)
    if not effective.cluster.engine:
        raise SettingsError("no engine is named", do="give --engine nats://HOST:PORT")
    if not effective.cluster.snapshots:
        raise SettingsError("no place for snapshots is named", do="give --snapshots")

    configure(least, as_json=log_json, node=name)
    log_what_counts(effective, [])

    async def run() -> str:
        ended = asyncio.Event()
        if supervised:
            told_to_end(ended)
        return await run_node(effective, name=name, out=out, ended=ended)

    reason = uvloop.run(run())
    logger("node").info("ended", why=reason)
    if reason == "interrupted":
        raise typer.Exit(130)
