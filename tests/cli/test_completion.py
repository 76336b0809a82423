"""Completion: the scripts know every command, option and setting, and bash completes by them."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gossamer.cli.commands import COMMANDS
from gossamer.cli.completion_table import FILE, collect, read

GOSSAMER = [sys.executable, "-m", "gossamer.cli.main"]
BASH = shutil.which("bash") or "bash"


def script(shell: str) -> str:
    told = subprocess.run(
        [*GOSSAMER, "completion", shell], capture_output=True, text=True, check=True
    )
    return told.stdout


@pytest.fixture(scope="module")
def bash(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("completion") / "gossamer.bash"
    file.write_text(script("bash"))
    return file


def completed(bash: Path, *words: str, cwd: Path | None = None) -> list[str]:
    """What bash offers for the last word, with no gossamer on the path: completing starts none."""
    code = (
        f'source {bash}; COMP_WORDS=(gossamer "$@"); COMP_CWORD=$#; '
        'compopt() { :; }; _gossamer; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    told = subprocess.run(
        [BASH, "-c", code, "bash", *words], capture_output=True, text=True, check=True,
        cwd=cwd, env={"PATH": ""},
    )  # fmt: skip
    assert told.stderr == ""
    return told.stdout.split()


def test_the_table_is_that_of_the_commands() -> None:
    assert read() == collect(), f"write {FILE.name} with: python -m gossamer.cli.completion_table"


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["cr"], ["crawl", "crawls"]),
        (["sim"], ["simweb"]),
        (["crawl", "--max-"], ["--max-pages", "--max-depth"]),
        (["crawl", "--scope", ""], ["host", "domain", "prefix", "any"]),
        (["crawl", "a.example", "--log-level", "w"], ["warning"]),
        (["crawl", "--set", "politeness.de"], ["politeness.delay="]),
        (["crawl", "--max-pages", ""], []),
        (["settings", "seen."], ["seen.kind", "seen.ram", "seen.expected"]),
        (["nodes", "k"], ["keep"]),
        (["nodes", "--pa"], ["--pause"]),
        (["nodes", "resend", "--si"], ["--since"]),
        (["export", "--format", "p"], ["parquet"]),
        (["unknown", "--x"], []),
    ],
)
def test_bash_completes(bash: Path, words: list[str], offered: list[str]) -> None:
    assert completed(bash, *words) == offered


def test_bash_completes_commands_files_and_directories(bash: Path, tmp_path: Path) -> None:
    assert set(completed(bash, "")) == {*COMMANDS, "--help", "--version"}
    (tmp_path / "place").mkdir()
    (tmp_path / "plain.txt").touch()
    assert completed(bash, "crawl", "--out", "pla", cwd=tmp_path) == ["place"]
    assert completed(bash, "crawl", "--seeds", "plain", cwd=tmp_path) == ["plain.txt"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_script_has_every_command_option_and_setting(shell: str) -> None:
    text, table = script(shell), read()
    for options in table["commands"].values():
        for option in options:
            spelt = f"-l {option[2:]}" if shell == "fish" and option.startswith("--") else option
            assert spelt in text or f"-s {option[1:]}" in text
    for name in [*COMMANDS, *table["settings"]]:
        assert name in text
    assert text.count("'") % 2 == 0


def test_printing_a_script_loads_no_command() -> None:
    code = (
        "import sys, contextlib; from gossamer.cli.main import main; "
        "sys.argv[1:] = ['completion', 'bash']; main(); "
        "print(*(name for name in sys.modules if name.startswith('gossamer.') "
        "and name.split('.')[1] not in {'cli', 'errors', 'words'} or name == 'gossamer.cli.crawl'))"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.splitlines()[-1] == ""


def test_another_shell_is_wrong_use() -> None:
    told = subprocess.run(
        [*GOSSAMER, "completion", "tcsh"], capture_output=True, text=True, check=False
    )
    assert told.returncode == 2
    assert "'tcsh' is not one of 'bash', 'zsh', 'fish'" in told.stderr
