"""Completion in the shells themselves: bash and zsh on a terminal, where the tab key is pressed; fish, which is asked."""

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.cli.offered import GOSSAMER
from tests.cli.shells import shell

Complete = Callable[[str], str]
LINES = {
    "gossamer compl": "gossamer completion",
    "gossamer crawl --max-p": "gossamer crawl --max-pages",
    "gossamer crawl a.example -q --max-p": "gossamer crawl a.example -q --max-pages",
    "gossamer crawl --set politeness.del": "gossamer crawl --set politeness.delay=",
    "gossamer settings seen.exp": "gossamer settings seen.expected",
    "gossamer crawl --scope pre": "gossamer crawl --scope prefix",
    "gossamer crawl --scope=pre": "gossamer crawl --scope=prefix",
    "gossamer crawl --out my": "gossamer crawl --out my crawl",
    "gossamer report my": "gossamer report my crawl",
    "gossamer crawl --seeds its": "gossamer crawl --seeds its $seeds & more.txt",
    "gossamer nodes ke": "gossamer nodes keep",
    "gossamer nodes resend --si": "gossamer nodes resend --since",
    "gossamer nodes --pa": "gossamer nodes --pause",
    "gossamer completion fi": "gossamer completion fish",
    # A word that is also a command is not taken for it further on.
    "gossamer report crawl --max-p": "gossamer report crawl --max-p",
    "gossamer --vers": "gossamer --version",
}
"""What is typed, and the words that stand there after the tab key."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("shells")
    (place / "my crawl").mkdir()
    (place / "its $seeds & more.txt").touch()
    (place / "home").mkdir()
    return place


def script(name: str, place: Path) -> Path:
    file = place / f"completion-{name}"
    told = subprocess.run([*GOSSAMER, "completion", name], capture_output=True, check=True)
    file.write_bytes(told.stdout)
    return file


@pytest.fixture(scope="module", params=["bash", "zsh", "fish"])
def complete(request: pytest.FixtureRequest, place: Path) -> Iterator[Complete]:
    name = request.param
    file = script(name, place)
    if name != "fish":
        with shell(name, file, place) as running:
            yield running.completed
        return
    if shutil.which("fish") is None:
        pytest.skip("fish is not installed here")

    def ask(line: str) -> str:
        told = subprocess.run(
            ["fish", "--no-config", "-c", f"source {file}; complete -C $argv[1]", line],
            cwd=place, capture_output=True, text=True, check=True,
            env={"PATH": "/usr/bin:/bin", "HOME": str(place / "home"), "LC_ALL": "C.UTF-8"},
        )  # fmt: skip
        assert told.stderr == ""
        offered = [one.partition("\t")[0] for one in told.stdout.splitlines()]
        assert len(offered) <= 1, offered
        begun = line.rpartition(" ")[0]
        return f"{begun} {offered[0]}" if offered else line

    yield ask


@pytest.mark.parametrize("line", LINES)
def test_the_tab_key_completes(complete: Complete, line: str) -> None:
    # Shells differ in whether the slash of a directory stays.
    assert complete(line).rstrip("/") == LINES[line]


def test_zsh_finds_it_as_a_file_of_its_own(place: Path) -> None:
    """As `_gossamer` in a folder of $fpath, which zsh reads when it is first needed."""
    functions = place / "functions"
    functions.mkdir()
    shutil.copy(script("zsh", place), functions / "_gossamer")
    begun = place / "fpath.zsh"
    begun.write_text(f"fpath=({functions} $fpath); autoload -Uz compinit && compinit -D -u\n")
    with shell("zsh", begun, place) as running:
        assert running.completed("gossamer crawl --max-p") == "gossamer crawl --max-pages"
        assert running.completed("gossamer crawl --max-d") == "gossamer crawl --max-depth"
