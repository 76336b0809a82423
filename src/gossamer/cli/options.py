"""What the command line says about settings, for all commands that begin a crawl."""

from pathlib import Path
from typing import Annotated, Any

import typer

from gossamer.errors import SettingsError
from gossamer.logging import Level
from gossamer.node.directory import SETTINGS
from gossamer.settings import CrawlSettings, load, load_saved
from gossamer.settings.model import ScopeKind

Urls = Annotated[list[str] | None, typer.Argument(help="Seeds.", metavar="URL...")]
Seeds = Annotated[
    Path | None, typer.Option(help="File with a seed per line; - for standard input.")
]
Out = Annotated[Path, typer.Option(help="Where everything goes.")]
Scope = Annotated[ScopeKind | None, typer.Option(help="What links must share with a seed.")]
MaxPages = Annotated[int | None, typer.Option(help="Stop after so many pages.")]
MaxDepth = Annotated[int | None, typer.Option(help="Links from a seed, at most.")]
Delay = Annotated[
    str | None, typer.Option(help="Shortest gap between visits to a host, such as 1s.")
]
PerHost = Annotated[int | None, typer.Option(help="Connections to a host.")]
Config = Annotated[Path | None, typer.Option(help="Settings as TOML.")]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", help="Any setting, as stage.name=value.", metavar="NAME=VALUE"),
]
AllowPrivate = Annotated[
    bool, typer.Option("--allow-private", help="Visit loopback and private addresses.")
]
LogLevel = Annotated[
    Level, typer.Option("--log-level", help="The least that is logged on standard error.")
]
LogJson = Annotated[
    bool, typer.Option("--log-json", help="Log a JSON object a line, for programs; no live view.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object at the end.")]
Engine = Annotated[
    str | None,
    typer.Option(help="Address of the NATS servers: nats://HOST:PORT, several with commas."),
]
Snapshots = Annotated[
    str | None, typer.Option(help="Where snapshots go: a directory, file://, s3:// and the like.")
]
Crawl = Annotated[str | None, typer.Option("--crawl", help="The crawl's name in the engine.")]


def crawl_overrides(
    *,
    scope: ScopeKind | None,
    max_pages: int | None,
    max_depth: int | None,
    delay: str | None,
    per_host: int | None,
    allow_private: bool,
) -> dict[str, Any]:
    values = {
        "scope.kind": scope.value if scope else None,
        "limits.pages": max_pages,
        "limits.depth": max_depth,
        "politeness.delay": delay,
        "politeness.per_host": per_host,
        "fetch.allow_private": True if allow_private else None,
    }
    return {name: value for name, value in values.items() if value is not None}


def cluster_overrides(
    engine: str | None, snapshots: str | None, crawl: str | None
) -> dict[str, Any]:
    values = {
        "cluster.engine": engine.split(",") if engine else None,
        "cluster.snapshots": snapshots,
        "cluster.name": crawl,
    }
    return {name: value for name, value in values.items() if value is not None}


def saved(out: Path) -> Path | None:
    file = out / SETTINGS
    if not file.exists() and (out / "state").exists():
        raise SettingsError(f"{file} is missing; give the crawl's settings with --config")
    return file if file.exists() else None


def effective_settings(
    config: Path | None, out: Path, overrides: dict[str, Any], *, resume: bool
) -> CrawlSettings:
    """From the file that is named; else, of a crawl that goes on, from its own."""
    own = saved(out) if resume and config is None else None
    return load(config, overrides) if own is None else load_saved(own, overrides)
