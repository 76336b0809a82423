"""The command line as a whole: its table of commands, its help, its exit codes for wrong use."""

import importlib
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from gossamer.cli.commands import COMMANDS, GROUPS
from gossamer.cli.main import load, make_app

GOSSAMER = [sys.executable, "-m", "gossamer.cli.main"]


def run(*words: str, columns: int = 80) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "COLUMNS": str(columns)}
    return subprocess.run(
        [*GOSSAMER, *words], capture_output=True, text=True, check=False, env=environment
    )


@pytest.mark.parametrize("name", COMMANDS)
def test_each_line_of_the_help_is_what_the_module_says(name: str) -> None:
    loaded = load(COMMANDS[name])
    if isinstance(loaded, typer.Typer):
        callback = loaded.registered_callback
        said = callback.callback.__doc__ if callback and callback.callback else loaded.info.help
    else:
        said = loaded.__doc__
    assert isinstance(said, str)
    assert said.strip().splitlines()[0] == COMMANDS[name].help


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_takes_both_spellings_of_help(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    app = make_app(COMMANDS[name])
    told = []
    for word in ("-h", "--help"):
        with pytest.raises(SystemExit) as ended:
            app([name, word], prog_name="gossamer")
        assert ended.value.code == 0
        told.append(capsys.readouterr().out)
    assert told[0] == told[1]
    assert told[0].startswith(f"Usage: gossamer {name} ")
    assert "-h, --help" in told[0]


def test_the_help_has_every_command_and_fits_80_columns() -> None:
    for word in ("-h", "--help"):
        told = run(word)
        assert told.returncode == 0
        lines = told.stdout.splitlines()
        assert [line for line in lines if len(line) > 80] == []
        for group, commands in GROUPS.items():
            assert f"{group}:" in lines
            for command in commands:
                assert any(line.startswith(f"  {command.name} ") for line in lines)


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["crwal"]])
def test_what_is_said_of_the_whole_loads_nothing_heavy(words: list[str]) -> None:
    heavy = {"typer", "rich", "pydantic", "msgspec", "structlog", "gossamer._native"}
    code = (
        "import sys; from gossamer.cli.main import main; "
        f"sys.argv[1:] = {words}; main(); print(*sorted({heavy} & set(sys.modules)))"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.splitlines()[-1] == ""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["crwal"], "no command is called 'crwal'; did you mean crawl or crawls?"),
        (["zzzzz"], "no command is called 'zzzzz'; gossamer --help lists them"),
        (["example.org"], "to crawl from it: gossamer crawl example.org"),
        (["--json", "crawl"], "no option --json; options follow the command"),
        (["crawl", "--max-pages", "x"], "'--max-pages': a whole number expected; got x"),
        (["cluster", "--nodes", "0"], "'--nodes': at least 1 expected; got 0"),
        (["cluster", "--nodes", "257"], "'--nodes': at most 256 expected; got 257"),
        (["crawl", "--max-page", "3", "a.example"], "--max-pages"),
        (["crawl", "--scope", "hots", "a.example"], "'hots' is not one of 'host', 'domain'"),
        (["simweb", "srve"], "Did you mean 'serve'?"),
        (["export"], "DIR"),
    ],
)
def test_wrong_use_is_told_with_what_was_meant(words: list[str], said: str) -> None:
    told = run(*words)
    assert told.returncode == 2
    assert said in told.stderr
    assert told.stdout == ""
    for words_of_others in ("Traceback", "Input should", "Value error"):
        assert words_of_others not in told.stderr


def test_without_a_word_the_help_is_shown_as_wrong_use() -> None:
    told = run()
    assert told.returncode == 2
    assert told.stdout.startswith("Usage: gossamer COMMAND")


@pytest.mark.parametrize("name", COMMANDS)
def test_what_is_declared_is_what_is_done(name: str) -> None:
    """A command that is declared in one module and done in another has the same parameters in both."""
    declared = load(COMMANDS[name])
    place = getattr(declared, "place", None)
    if place is None:
        return
    module, _, function = place.partition(":")
    done = getattr(importlib.import_module(module), function)
    told, taken = inspect.signature(declared).parameters, inspect.signature(done).parameters
    assert list(told) == list(taken)
    assert [one.kind for one in told.values()] == [one.kind for one in taken.values()]


@pytest.mark.parametrize("name", ["crawl", "cluster", "control", "node", "settings"])
def test_the_help_of_what_people_begin_with_loads_nothing_heavy(name: str) -> None:
    heavy = {"rich", "gossamer.settings", "msgspec", "structlog", "nats", "gossamer._native"}
    code = (
        "import sys, contextlib; from gossamer.cli.main import main; "
        f"sys.argv[1:] = [{name!r}, '-h']\n"
        "with contextlib.suppress(SystemExit): main()\n"
        f"print(); print(*sorted({heavy} & set(sys.modules)))"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.splitlines()[-1] == ""


def test_the_page_about_the_command_line_names_every_command_and_exit_code() -> None:
    page = (Path(__file__).parents[2] / "docs/reference/command-line.md").read_text()
    lists, _, rest = page.partition("## Exit codes")
    assert set(re.findall(r"`([a-z]+)`", lists)) == set(COMMANDS)
    codes = re.findall(r"^\| (\d+) \|", rest, re.MULTILINE)
    assert codes == ["0", "1", "2", "130"]
