"""`gossamer control`: a control node of a cluster."""

import asyncio
import contextlib
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from gossamer.cli.assignments import assignments
from gossamer.cli.options import (
    AllowPrivate,
    Config,
    Crawl,
    Delay,
    Engine,
    LogJson,
    LogLevel,
    MaxDepth,
    MaxPages,
    PerHost,
    Scope,
    Seeds,
    Set,
    Urls,
    cluster_overrides,
    crawl_overrides,
)
from gossamer.cli.summary import show_refused
from gossamer.cli.supervised import told_to_end
from gossamer.cluster.summary import Summary
from gossamer.control.api.server import check
from gossamer.control.process import ControlProcess
from gossamer.disk import write_whole
from gossamer.errors import GossamerError, SettingsError
from gossamer.library.seeds import Refused, read_seeds
from gossamer.logging import Level, configure, logger
from gossamer.node.clustered import NativeSeeds
from gossamer.settings import load


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
        int, typer.Option(help="Nodes to wait for before partitions are given out.")
    ] = 1,
    until_done: Annotated[
        bool, typer.Option("--until-done", help="End all nodes when the crawl is over.")
    ] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Let a crawl go on that was stopped.")
    ] = False,
    log_level: LogLevel = Level.INFO,
    log_json: LogJson = False,
    supervised: Annotated[bool, typer.Option("--supervised", hidden=True)] = False,
) -> None:
    """Oversee a cluster: who is in, who owns what, settings, commands, the end."""
    overrides: dict[str, Any] = crawl_overrides(
        scope=scope,
        max_pages=max_pages,
        max_depth=max_depth,
        delay=delay,
        per_host=per_host,
        allow_private=allow_private,
    )
    overrides |= assignments(settings or []) | cluster_overrides(engine, None, crawl)
    effective = load(config, overrides)
    if not effective.cluster.engine:
        raise SettingsError("no engine is named: give --engine nats://HOST:PORT")
    seed_list = read_seeds(urls or [], seeds) if urls or seeds else []
    who = name or f"control-{socket.gethostname()}-{os.getpid()}"

    configure(log_level, as_json=log_json, node=who)
    check(effective.control)
    process = ControlProcess(
        settings=effective,
        name=who,
        out=out,
        coder=NativeSeeds(),
        expect=expect,
        until_done=until_done,
        resume=resume,
    )

    async def run() -> Summary:
        ended = asyncio.Event()
        if supervised:
            told_to_end(ended)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, ended.set)
        return await process.run(ended, seed_list, refused)

    def refused(found: list[tuple[str, str]]) -> None:
        show_refused([Refused(*one) for one in found], total=len(seed_list))

    with _explained(out):
        out.mkdir(parents=True, exist_ok=True)
        (out / "pid").write_text(f"{os.getpid()}\n")
    summary = asyncio.run(run())
    with _explained(out):
        write_whole(out / "summary.json", msgspec.json.encode(summary))
        (out / "pid").unlink(missing_ok=True)
    logger("control").info("ended", state=summary.state)


@contextlib.contextmanager
def _explained(out: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise GossamerError(f"cannot write in {out}: {error.strerror}") from error
