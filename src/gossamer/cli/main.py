"""The `gossamer` command. Exit codes: 0 done, 1 the job failed, 2 wrong use, 130 interrupted.

What is said of the command line as a whole comes from the table of commands, without loading anything;
what is said to a command is read by its own module, the only one that is loaded.
"""

import difflib
import os
import shutil
import sys
import textwrap
from importlib import import_module
from typing import TYPE_CHECKING, Any

import gossamer
from gossamer.cli.commands import COMMANDS, GROUPS, Command
from gossamer.cli.terminal import harmless_streams
from gossamer.errors import FileError, GossamerError, UsageError
from gossamer.words import command as to_copy
from gossamer.words import plain

if TYPE_CHECKING:
    import typer

WIDEST = 100
"""Columns of help: longer lines are hard to read."""
LONGEST = 4000
"""Characters of an error that are shown."""


def _help() -> str:
    width = min(shutil.get_terminal_size().columns, WIDEST)
    column = max(map(len, COMMANDS)) + 4
    lines = [
        "Usage: gossamer COMMAND [OPTIONS] [ARGUMENTS]",
        "",
        "A distributed web crawler: polite by construction, losing nothing.",
    ]
    for group, commands in GROUPS.items():
        lines += ["", f"{group}:"]
        for command in commands:
            lines += textwrap.wrap(
                command.help,
                max(width, 2 * column),
                initial_indent=f"  {command.name}".ljust(column),
                subsequent_indent=" " * column,
            )
    lines += [
        "",
        "gossamer COMMAND -h tells all about a command.",
        "To begin: gossamer crawl example.org --max-pages 100",
    ]
    return "\n".join(lines)


def _unknown(word: str) -> tuple[str, str]:
    """What is wrong with a first word, and what may be meant."""
    if word.startswith("-"):
        return f"no option {word}", f"options follow the command: {to_copy('COMMAND', word)}"
    if "." in word or "/" in word:
        return f"no command is called {word!r}", f"to crawl from it: {to_copy('crawl', word)}"
    near = difflib.get_close_matches(word, COMMANDS, n=3, cutoff=0.6)
    hint = f"did you mean {' or '.join(near)}?" if near else "gossamer --help lists them"
    return f"no command is called {word!r}", hint


def load(command: Command) -> Any:
    """What the command's module has: a function, or a group of commands."""
    module, _, name = command.place.partition(":")
    return getattr(import_module(f"gossamer.cli.{module}"), name)


def make_app(command: Command) -> "typer.Typer":
    """A command line that has this command alone."""
    # Not for the help of the whole, which must be there at once.
    import typer  # noqa: PLC0415

    app = typer.Typer(
        name="gossamer",
        pretty_exceptions_enable=False,
        add_completion=False,
        # Plain text, which needs no library to be loaded and fits any terminal and pipe.
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    # With a callback it stays a group, also of one command, and the command keeps its name.
    app.callback()(lambda: None)
    loaded = load(command)
    if isinstance(loaded, typer.Typer):
        app.add_typer(loaded, name=command.name)
    else:
        app.command(name=command.name)(loaded)
    return app


def _run(words: list[str]) -> int:
    first = words[0] if words else ""
    if first in {"", "-h", "--help"}:
        print(_help())
        return 0 if first else 2
    if first == "--version":
        print(f"gossamer {gossamer.__version__}")
        return 0
    if first not in COMMANDS:
        what, hint = _unknown(first)
        raise UsageError(what, do=hint)
    return _run_command(COMMANDS[first], words)


def _run_command(command: Command, words: list[str]) -> int:
    from typer.exceptions import TyperException  # noqa: PLC0415

    from gossamer.cli.usage import tell  # noqa: PLC0415

    try:
        code = make_app(command)(words, prog_name="gossamer", standalone_mode=False)
    except TyperException as error:
        return tell(error)
    return code if isinstance(code, int) else 0


def main() -> int:
    """Runs the command line and turns our errors into a line and an exit code."""
    with harmless_streams():
        return _main(sys.argv[1:])


def _say(text: str) -> None:
    # One line, whatever the arguments, names and answers that are told in it.
    print(f"gossamer: {plain(text, LONGEST)}", file=sys.stderr)


def _main(words: list[str]) -> int:
    try:
        return _run(words)
    except GossamerError as error:
        _say(error.in_words())
        return 2 if isinstance(error, UsageError) else 1
    except BrokenPipeError:
        # Whoever read has seen enough; nothing more can be said to them.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        # Files of ours that cannot be read or written; nothing else of the system reaches this place.
        place = f"{os.fsdecode(error.filename)}: " if error.filename else ""
        _say(FileError(f"{place}{error.strerror or error}").in_words())
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
