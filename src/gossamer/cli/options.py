"""Options that several commands have. Nothing heavy is loaded here: help and completion need them at once."""

from pathlib import Path
from typing import Annotated

import typer

from gossamer.model.choices import Level, ScopeKind

Urls = Annotated[list[str] | None, typer.Argument(help="Seeds.", metavar="URL")]
Seeds = Annotated[
    Path | None, typer.Option(help="File with a seed per line; - for standard input.")
]
Out = Annotated[Path, typer.Option(help="Where everything goes.")]
Scope = Annotated[ScopeKind | None, typer.Option(help="What links must share with a seed.")]
MaxPages = Annotated[int | None, typer.Option(help="Stop after so many pages.")]
MaxDepth = Annotated[int | None, typer.Option(help="Links from a seed, at most.")]
Delay = Annotated[
    str | None,
    typer.Option(
        help="Shortest gap between visits to a host, such as 1s or 250ms; a bare number is seconds."
    ),
]
PerHost = Annotated[int | None, typer.Option(help="Connections to a host.")]
Config = Annotated[Path | None, typer.Option(help="Settings as TOML.")]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="Any setting, as stage.name=value; gossamer settings lists them.",
        metavar="NAME=VALUE",
    ),
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
Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="Say nothing but errors (and the object of --json)."),
]
Verbose = Annotated[
    bool,
    typer.Option(
        "--verbose", "-v", help="Say also which seeds and settings count; log everything."
    ),
]
Resume = Annotated[bool, typer.Option("--resume", help="Go on with the crawl in --out.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object at the end.")]
Engine = Annotated[
    str | None,
    typer.Option(help="Address of the NATS servers: nats://HOST:PORT, several with commas."),
]
Snapshots = Annotated[
    str | None, typer.Option(help="Where snapshots go: a directory, file://, s3:// and the like.")
]
Crawl = Annotated[str | None, typer.Option("--crawl", help="The crawl's name in the engine.")]
