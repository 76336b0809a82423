"""`gossamer control`: a control node of a cluster."""

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from gossamer.cli.assignments import assignments
from gossamer.cli.chosen import (
    AllowPrivate,
    Config,
    Crawl,
    Delay,
    Engine,
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
from gossamer.control.answers import Answers
from gossamer.control.api.audit import AuditLog
from gossamer.control.api.server import PortTakenError, check, listen, serve
from gossamer.control.clustered import ClusterService
from gossamer.control.copy import write_whole
from gossamer.control.overseer import Overseer
from gossamer.control.records import Records
from gossamer.control.summary import Summary
from gossamer.engine import connect
from gossamer.engine.tasks import end
from gossamer.errors import GossamerError, SettingsError
from gossamer.node.clustered import NativeSeeds, access, read_settings, write_settings
from gossamer.path.seed import Refused, read_seeds
from gossamer.settings import CrawlSettings, load

TAKE_OVER = 0.5
"""Seconds between looks whether the address is free."""


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

    def say(text: str) -> None:
        print(f"{who}: {text}", file=sys.stderr, flush=True)

    check(effective.control)
    out.mkdir(parents=True, exist_ok=True)
    (out / "pid").write_text(f"{os.getpid()}\n")
    summary = asyncio.run(
        _run(effective, seed_list, who, out, say, expect, until_done, resume, supervised)
    )
    write_whole(out / "summary.json", msgspec.json.encode(summary))
    (out / "pid").unlink(missing_ok=True)
    say(f"ended: {summary.state}")


async def _run(  # noqa: PLR0917
    settings: CrawlSettings,
    seeds: list[str],
    who: str,
    out: Path,
    say: Any,
    expect: int,
    until_done: bool,
    resume: bool,
    supervised: bool,
) -> Summary:
    engine = await connect(access(settings), settings.cluster.name, who)
    try:
        overseer = Overseer(
            engine,
            settings,
            control=who,
            directory=out,
            coder=NativeSeeds(),
            read_settings=read_settings,
            write_settings=write_settings,
            say=say,
            expect=expect,
            until_done=until_done,
            resume=resume,
        )
        ended = asyncio.Event()
        if supervised:
            told_to_end(ended)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, ended.set)
        if seeds:
            refused = await overseer.add_seeds(seeds)
            show_refused([Refused(*one) for one in refused], total=len(seeds))
        records = Records(
            engine,
            out,
            leading=lambda: overseer.leading,
            replicas=lambda: settings.cluster.replicas,
            say=say,
        )
        audit = AuditLog(out / "audit.jsonl", records)
        await audit.open()
        async with records:
            await Answers(overseer, audit).serve(engine)
            tasks = [
                asyncio.create_task(_stop_when(ended, overseer)),
                asyncio.create_task(_serve(overseer, settings, out, say, records, audit)),
            ]
            try:
                return await overseer.run()
            finally:
                await end(tasks)
    finally:
        await engine.close()


async def _serve(  # noqa: PLR0917
    overseer: Overseer,
    settings: CrawlSettings,
    out: Path,
    say: Callable[[str], None],
    records: Records,
    audit: AuditLog,
) -> None:
    """Serves dashboard and API; beside another control node, as soon as that one is gone.

    So on one machine a second control node takes over at the same address, and those who look at a
    dashboard need no other one. Until then it follows what happens, and knows it when it begins.
    """
    try:
        async with (
            ClusterService(overseer, out, records) as service,
            serve(service, settings.control, out, await _listener(settings, say), audit) as serving,
        ):
            overseer.served_at(serving.url)
            say(f"dashboard and API: {serving.url}")
            try:
                await asyncio.Event().wait()
            finally:
                service.let_go()
    except (GossamerError, OSError) as error:
        say(f"no dashboard and API: {error}")


async def _listener(settings: CrawlSettings, say: Callable[[str], None]) -> socket.socket:
    told = False
    while True:
        try:
            return listen(settings.control)
        except PortTakenError as error:
            if not told:
                told = True
                say(f"standing by: {error}")
            await asyncio.sleep(TAKE_OVER)


async def _stop_when(ended: asyncio.Event, overseer: Overseer) -> None:
    await ended.wait()
    overseer.stop_process()
