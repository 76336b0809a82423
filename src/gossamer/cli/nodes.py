"""`gossamer nodes`: the nodes of a cluster, seen and steered through the engine."""

import asyncio
import sys
import time
from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from gossamer.cli.console import console
from gossamer.cli.effective import cluster_overrides
from gossamer.cli.json_output import print_json
from gossamer.cli.operate import Control, Out
from gossamer.cli.options import Config, Crawl, Engine, Json, Set
from gossamer.cluster.requests import ask_control, operator
from gossamer.cluster.shared_settings import engine_access
from gossamer.control.client import find, path_of
from gossamer.engine import connect
from gossamer.errors import SettingsError, UsageError
from gossamer.settings import load
from gossamer.settings.assignments import assignments
from gossamer.settings.units import duration
from gossamer.words import counted, plain, size, span

PIPED = 1000

app = typer.Typer(help="The nodes of a cluster.", invoke_without_command=True)


@app.callback()
def nodes(
    context: typer.Context,
    *,
    pause: Annotated[str | None, typer.Option(help="Pause this node.", metavar="ID")] = None,
    resume: Annotated[str | None, typer.Option(help="Resume this node.", metavar="ID")] = None,
    remove: Annotated[
        str | None, typer.Option(help="Hand its partitions over and end it.", metavar="ID")
    ] = None,
    control: Control = None,
    out: Out = None,
    json: Json = False,
) -> None:
    """Show the crawl nodes and the control nodes, or steer a crawl node."""
    if context.invoked_subcommand is not None:
        return
    client = find(control, out)
    for command, node in {"pause": pause, "resume": resume, "remove": remove}.items():
        if node is not None:
            client.post(path_of("nodes", node, command))
    rows, controls = client.get("/nodes"), client.get("/control-nodes")
    if json:
        print_json({"nodes": rows, "control": controls})
        return
    for row in rows:
        print(", ".join(_facts(row)))
    for one in controls:
        words = [one["state"], one["url"] or "", _heard(one["last_heartbeat"])]
        print(f"control node {plain(one['id'])}: {', '.join(filter(None, map(plain, words)))}")


def _facts(row: dict[str, Any]) -> Iterator[str]:
    """Without what is not known of it."""
    yield f"{plain(row['id'])}: {row['state']}"
    if row["uptime"] is not None:
        yield f"up {span(row['uptime'])}"
    if row["pages"] is not None:
        rate = row["pages_per_second"]
        yield counted(row["pages"], "page") + ("" if rate is None else f" ({rate:.1f}/s)")
    yield f"{row['partitions']} partitions"
    for name, key in {"memory": "rss", "disk": "disk"}.items():
        if row[key] is not None:
            yield f"{name} {size(row[key])}"


def _heard(moment: float | None) -> str:
    return "" if moment is None else f"heard of {span(time.time() - moment)} ago"


def _ask(  # noqa: PLR0917
    name: str,
    body: object,
    engine: str | None,
    crawl: str | None,
    config: Any,
    settings: list[str] | None,
) -> Any:
    effective = load(config, assignments(settings or []) | cluster_overrides(engine, None, crawl))
    if not effective.cluster.engine:
        raise SettingsError("no engine is named", do="give --engine nats://HOST:PORT")

    async def run() -> Any:
        line = await connect(engine_access(effective), effective.cluster.name, f"command {name}")
        try:
            return await ask_control(line, name, body, 60.0, who=operator())
        finally:
            await line.close()

    return asyncio.run(run())


@app.command("list")
def list_nodes(
    *,
    engine: Engine = None,
    crawl: Crawl = None,
    config: Config = None,
    settings: Set = None,
    json: Json = False,
) -> None:
    """Who is in, and how they are; and the control nodes."""
    summary = _ask("status", None, engine, crawl, config, settings)
    if json:
        print_json(summary)
        return
    table = Table(box=None, padding=(0, 2))
    for column in ("node", "state", "partitions", "pages", "queued", "unsent", "machine", "notes"):
        table.add_column(column)
    for row in summary["nodes"]:
        table.add_row(
            *(
                Text(plain(word, PIPED))
                for word in (
                    row["node"], row["state"], str(row["partitions"]), str(row["pages"]),
                    str(row["urls_queued"]), str(row["outbox"]), row["host"], "; ".join(row["notes"]),
                )
            )
        )  # fmt: skip
    # Into a file or a pipe a row is a line, however long.
    shown = console(width=None if sys.stdout.isatty() else PIPED)
    shown.print(table)
    shown.print()
    shown.print(_control_table(summary["controls"]))


def _control_table(rows: list[dict[str, Any]]) -> Table:
    table = Table(box=None, padding=(0, 2))
    for column in ("control node", "state", "since", "heard of", "version", "address"):
        # On a narrow terminal an address is broken, not cut.
        table.add_column(column, overflow="fold")
    for row in rows:
        since = "" if row["since"] is None else datetime.fromtimestamp(row["since"]).astimezone()
        words = [
            row["control"], row["state"], f"{since:%Y-%m-%d %H:%M}" if since else "",
            f"{span(time.time() - row['time'])} ago", row["program"], row["url"],
        ]  # fmt: skip
        table.add_row(*(Text(plain(word)) for word in words))
    return table


@app.command()
def remove(
    node: Annotated[str, typer.Argument(help="Its name.")],
    *,
    engine: Engine = None,
    crawl: Crawl = None,
    config: Config = None,
    settings: Set = None,
) -> None:
    """Take a node out in order: it hands everything over, then ends."""
    _ask("remove", {"node": node}, engine, crawl, config, settings)
    print(f"{plain(node)} hands its partitions over and then ends")


@app.command()
def add(*, control: Control = None, out: Out = None, json: Json = False) -> None:
    """Start another node, where `gossamer cluster` runs. Elsewhere a node joins when it is started."""
    result = find(control, out).post("/commands", {"command": "add_node"})
    if json:
        print_json(result)
        return
    for node in result["nodes"]:
        print(f"{plain(node['node'])}: {plain(node['note'])}")


@app.command()
def keep(
    node: Annotated[str, typer.Argument(help="Its name.")],
    *,
    engine: Engine = None,
    crawl: Crawl = None,
    config: Config = None,
    settings: Set = None,
) -> None:
    """Call a removal off: the node stays."""
    _ask("keep", {"node": node}, engine, crawl, config, settings)
    print(f"{plain(node)} stays")


@app.command()
def resend(
    *,
    since: Annotated[
        str, typer.Option(help="A time such as 2026-11-15T12:00, or how long ago, such as 2h.")
    ],
    engine: Engine = None,
    crawl: Crawl = None,
    config: Config = None,
    settings: Set = None,
    json: Json = False,
) -> None:
    """Send links again from the nodes' own records, after the engine has lost some."""
    answer = _ask("resend", {"since": _moment(since)}, engine, crawl, config, settings)
    if json:
        print_json(answer)
        return
    for name, rows in answer.items():
        print(f"{plain(name)}: {rows} rows of links are sent again")


def _moment(text: str) -> float:
    try:
        return time.time() - duration(text)
    except ValueError:
        pass
    try:
        return datetime.fromisoformat(text).astimezone().timestamp()
    except ValueError as error:
        raise UsageError(
            f"--since: {text!r} is no time",
            do="give a time such as 2026-11-15T12:00, or how long ago, such as 2h",
        ) from error
