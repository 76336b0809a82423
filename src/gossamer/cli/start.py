"""What can be told to the commands that start something: crawl, cluster, control, node.

Only declared here, so that help comes at once; done in the modules that are named.
"""

from pathlib import Path
from typing import Annotated

import typer

from gossamer.cli.declared import done_by
from gossamer.cli.options import (
    AllowPrivate,
    Config,
    Crawl,
    Delay,
    Engine,
    Json,
    LogJson,
    LogLevel,
    MaxDepth,
    MaxPages,
    Out,
    PerHost,
    Quiet,
    Resume,
    Scope,
    Seeds,
    Set,
    Snapshots,
    Urls,
    Verbose,
)
from gossamer.model.choices import Level

Supervised = Annotated[bool, typer.Option("--supervised", hidden=True)]


@done_by("gossamer.cli.crawl:crawl")
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
    resume: Resume = False,
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
    quiet: Quiet = False,
    verbose: Verbose = False,
    log_level: LogLevel = Level.INFO,
    log_json: LogJson = False,
    json: Json = False,
) -> None:
    """Crawl from the given seeds, politely, into a directory."""


@done_by("gossamer.cli.cluster:cluster")
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
    resume: Resume = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    log_level: LogLevel = Level.INFO,
    log_json: LogJson = False,
    json: Json = False,
) -> None:
    """Crawl with a control node and several crawl nodes as processes on this machine."""


@done_by("gossamer.cli.control:control")
def control(
    urls: Urls = None,
    *,
    seeds: Seeds = None,
    engine: Engine = None,
    out: Annotated[Path, typer.Option(help="Where this control node's files go.")] = Path(
        "control-out"
    ),
    name: Annotated[str | None, typer.Option(help="This control node's name.")] = None,
    crawl: Crawl = None,
    scope: Scope = None,
    max_pages: MaxPages = None,
    max_depth: MaxDepth = None,
    delay: Delay = None,
    per_host: PerHost = None,
    allow_private: AllowPrivate = False,
    config: Config = None,
    settings: Set = None,
    expect: Annotated[
        int, typer.Option(help="Nodes to wait for before partitions are given out.", min=1)
    ] = 1,
    until_done: Annotated[
        bool, typer.Option("--until-done", help="End all nodes when the crawl is over.")
    ] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Let a crawl go on that was stopped.")
    ] = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    log_level: LogLevel = Level.INFO,
    log_json: LogJson = False,
    supervised: Supervised = False,
) -> None:
    """Oversee a cluster: who is in, who owns what, settings, commands, the end."""


@done_by("gossamer.cli.node:node")
def node(
    *,
    engine: Engine = None,
    snapshots: Snapshots = None,
    name: Annotated[str, typer.Option(help="The node's name, different for each.")] = "n1",
    out: Annotated[Path, typer.Option(help="Where this node's files go.")] = Path("node-out"),
    crawl: Crawl = None,
    config: Config = None,
    settings: Set = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
    log_level: LogLevel = Level.INFO,
    log_json: LogJson = False,
    supervised: Supervised = False,
) -> None:
    """Crawl as one node of a cluster, until the crawl is over."""
