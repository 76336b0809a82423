"""`gossamer node`: one crawl node of a cluster."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer
import uvloop

from gossamer.cli.assignments import assignments
from gossamer.cli.options import (
    Config,
    Crawl,
    Engine,
    LogJson,
    LogLevel,
    Set,
    Snapshots,
    cluster_overrides,
)
from gossamer.cli.supervised import told_to_end
from gossamer.errors import SettingsError
from gossamer.logging import Level, configure, logger
from gossamer.node.clustered import run_node
from gossamer.settings import load


def node(
    *,
    engine: Engine = None,
    snapshots: Snapshots = None,
    name: Annotated[str, typer.Option(help="The node's name, different for each.")] = "n1",
    out: Annotated[Path, typer.Option(help="Where this node's files go.")] = Path("node-out"),
    crawl: Crawl = None,
    config: Config = None,
    settings: Set = None,
    log_level: LogLevel = Level.INFO,
    log_json: LogJson = False,
    supervised: Annotated[bool, typer.Option("--supervised", hidden=True)] = False,
) -> None:
    """Crawl as one node of a cluster, until the crawl is over."""
    overrides = assignments(settings or []) | cluster_overrides(engine, snapshots, crawl)
    effective = load(config, overrides)
    if not effective.cluster.engine:
        raise SettingsError("no engine is named: give --engine nats://HOST:PORT")
    if not effective.cluster.snapshots:
        raise SettingsError("no place for snapshots is named: give --snapshots")

    configure(log_level, as_json=log_json, node=name)

    async def run() -> str:
        ended = asyncio.Event()
        if supervised:
            told_to_end(ended)
        return await run_node(effective, name=name, out=out, ended=ended)

    reason = uvloop.run(run())
    logger("node").info("ended", why=reason)
    if reason == "interrupted":
        raise typer.Exit(130)
