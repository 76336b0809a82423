"""`gossamer control`: a control node of a cluster."""

import asyncio
import contextlib
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from gossamer.cli.effective import cluster_overrides, crawl_overrides, least_level
from gossamer.cli.seeds import tell_guessed, tell_refused
from gossamer.cli.supervised import told_to_end
from gossamer.cli.verbose import log_what_counts
from gossamer.cluster.summary import Summary
from gossamer.control.api.server import check
from gossamer.control.process import ControlProcess
from gossamer.disk import write_whole
from gossamer.errors import FileError, SettingsError, UsageError
from gossamer.library.seeds import Refused, read_seeds
from gossamer.logging import configure, logger
from gossamer.model.choices import Level, ScopeKind
from gossamer.node.clustered import NativeSeeds
from gossamer.settings import load
from gossamer.settings.assignments import assignments


def control(
    urls: list[str] | None,
    *,
    seeds: Path | None,
    engine: str | None,
    out: Path,
    name: str | None,
    crawl: str | None,
    scope: ScopeKind | None,
    max_pages: int | None,
    max_depth: int | None,
    delay: str | None,
    per_host: int | None,
    allow_private: bool,
    config: Path | None,
    settings: list[str] | None,
    expect: int,
    until_done: bool,
    resume: bool,
    quiet: bool,
    verbose: bool,
    log_level: Level,
    log_json: bool,
    supervised: bool,
) -> None:
    """Runs a control node; the options are declared in `gossamer.cli.start`."""
    least = least_level(log_level, quiet=quiet, verbose=verbose)
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
        raise SettingsError("no engine is named", do="give --engine nats://HOST:PORT")
    seed_list: list[str] = []
    if urls or seeds:
        # Those that the crawl's own settings refuse are known when its engine answers.
        found = read_seeds(urls or [], seeds)
        tell_refused(found.refused, left=len(found.taken), verbose=verbose)
        if not quiet:
            tell_guessed(found.taken)
        seed_list = found.urls
    who = name or f"control-{socket.gethostname()}-{os.getpid()}"

    configure(least, as_json=log_json, node=who)
    log_what_counts(effective, seed_list)
    check(effective.control)
    process = ControlProcess(
        settings=effective,
        name=who,
        out=out,
        coder=NativeSeeds(),
        expect=expect,
        until_done=until_done,
        resume=resume,
        # `gossamer cluster` starts it so, in its own directory.
        crawl=out.parent if supervised else None,
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
        left = len(seed_list) - len(found)
        tell_refused([Refused(*one) for one in found], left=left, verbose=verbose)

    if out.exists() and not out.is_dir():
        raise UsageError(f"{out} is not a directory", do="choose another --out")
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
        raise FileError(f"cannot write in {out}: {error.strerror}") from error
