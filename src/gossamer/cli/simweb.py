"""`gossamer simweb serve` and `gossamer simweb truth`: the same options for both."""

import dataclasses
import inspect
import json
import signal
import sys
import threading
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from gossamer.cli.loudness import Quiet
from gossamer.cli.terminal import drawn_on
from gossamer.simweb import ALL_BEHAVIOURS, Options, OptionsError
from gossamer.simweb import serve as start
from gossamer.simweb import truth as compute
from gossamer.words import plain

app = typer.Typer(
    help="The simulated web: a deterministic web for tests and benchmarks.", no_args_is_help=True
)


def _refuse(message: str) -> NoReturn:
    print(f"gossamer simweb: {plain(message, 1000)}", file=sys.stderr)
    raise typer.Exit(2)


def _web_parameters() -> list[inspect.Parameter]:
    """A command-line parameter for every field of Options; none means that it was not given."""
    parameters = []
    for field in dataclasses.fields(Options):
        kind: Any = field.type
        text = f"{field.metadata['help']} (default: {field.default or 'off'})"
        name = f"--{field.name.replace('_', '-')}"
        option = typer.Option(name, help=text, show_default=False)
        parameters.append(
            inspect.Parameter(
                field.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=None,
                annotation=Annotated[kind | None, option],
            )
        )
    every = typer.Option(
        "--all-behaviours", help="a moderate rate of every behaviour not set otherwise"
    )
    parameters.append(
        inspect.Parameter(
            "all_behaviours",
            inspect.Parameter.KEYWORD_ONLY,
            default=False,
            annotation=Annotated[bool, every],
        )
    )
    return parameters


def _options(given: dict[str, Any]) -> Options:
    base = dict(ALL_BEHAVIOURS) if given.pop("all_behaviours") else {}
    return Options(**base | {name: value for name, value in given.items() if value is not None})


def _with_web_options(command: Any) -> Any:
    """Adds the options of the web to a command that takes them as **web."""
    signature = inspect.signature(command)
    own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
    command.__signature__ = signature.replace(parameters=own + _web_parameters())
    return command


@app.command("serve")
@_with_web_options
def serve(
    *,
    workers: Annotated[int, typer.Option(help="threads that serve")] = 1,
    log: Annotated[
        Path | None, typer.Option(help="a line per request: time_us connection host path status")
    ] = None,
    dns_port: Annotated[
        int | None,
        typer.Option(help="answer DNS for hN.sim.test on this UDP port; 0: any free one"),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="say the start page and ports as JSON")
    ] = False,
    **web: Any,
) -> None:
    """Serves the simulated web until interrupted. Prints the start page when ready."""
    try:
        running = start(_options(web), workers=workers, log=log, dns_port=dns_port)
    except (OptionsError, OSError) as error:
        _refuse(str(error))
    done = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: done.set())
    with running:
        if as_json:
            facts = {
                "url": running.url,
                "port": running.port,
                "dns_port": running.dns_port,
                "hosts": running.options.hosts,
                "pages": running.options.pages,
            }
            print(json.dumps(facts), flush=True)
        else:
            print(running.url, flush=True)
        done.wait()


@app.command("truth")
@_with_web_options
def truth(
    *,
    agent: Annotated[str, typer.Option(help="the crawler's name in robots rules")] = "gossamer",
    quiet: Quiet = False,
    **web: Any,
) -> None:
    """Prints what a crawler must find: a JSON line per URL, the start page first."""
    try:
        # Drawn in place, so it goes past what makes prints harmless.
        terminal = drawn_on(sys.stderr) if sys.stderr.isatty() and not quiet else None
        known = compute(_options(web), agent=agent, progress=terminal)
    except OptionsError as error:
        _refuse(str(error))
    try:
        for line in known.json_lines():
            sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        # The reader had enough. Nothing more may be written, also not at exit.
        sys.stderr.close()
