"""No argument steers the terminal: whatever is given to a command, what it says is text and lines of its own."""

import re
import subprocess
from pathlib import Path

import pytest
from tests.audit.crawls import Crawl
from tests.cli.driven import drive
from tests.cli.offered import GOSSAMER

from gossamer.cli.commands import COMMANDS
from gossamer.cli.completion_table import read

EVIL = "evil\x1b[31m\rover\nFORGED: done\u202e\x9b2J"
REFUSED = {
    "crawl": ["notaurl"],
    "cluster": ["notaurl"],
    "simweb serve": ["--port", "-1"],
    "simweb truth": ["--hosts", "0"],
    "nodes resend": ["--since", EVIL],
}
"""What keeps a command from doing its work; the others have nothing to work with."""


def obeyed(*texts: bytes) -> list[str]:
    """Control characters and overrides of direction that a terminal would get, and lines that an argument has begun."""
    text = b"".join(texts).decode()
    raw = [one for one in text if not one.isprintable() and one not in "\n\t"]
    return raw + re.findall("^FORGED", text, re.MULTILINE)


def lines_for(name: str) -> list[list[str]]:
    """Each option with a value, an unknown option, an argument, and a setting by name and by value."""
    table = read()["commands"]
    lines = []
    for words, options in table.items():
        if words.split()[0] != name:
            continue
        spelt, more = words.split(), REFUSED.get(words, [])
        lines += [[*spelt, f"--{EVIL}"], [*spelt, EVIL, *more], [*spelt, f"-{EVIL}"]]
        for option, takes in options.items():
            if takes:
                lines.append([*spelt, option, EVIL, *more])
                lines.append([*spelt, f"{option}={EVIL}", EVIL, *more])
            if takes == "setting":
                lines += [
                    [*spelt, option, given, "http://a.example", *more]
                    for given in (f"fetch.{EVIL}=1", f"fetch.contact={EVIL}", f"fetch.proxy={EVIL}", f"fetch.concurrency={EVIL}")
                ]  # fmt: skip
    return lines


@pytest.mark.parametrize("name", COMMANDS)
def test_nothing_that_is_given_reaches_the_terminal_raw(name: str, tmp_path: Path) -> None:
    for ended in drive(lines_for(name), tmp_path):
        assert obeyed(ended.out, ended.err) == [], ended
        assert b"Traceback" not in ended.err
        assert ended.code in {1, 2}, ended


def test_an_unknown_command_does_not_either(tmp_path: Path) -> None:
    for words in ([EVIL], [f"--{EVIL}"], [f"a.b/{EVIL}"]):
        told = subprocess.run([*GOSSAMER, *words], capture_output=True, check=False, cwd=tmp_path)
        assert told.returncode == 2
        assert obeyed(told.stdout, told.stderr) == []


def test_a_crawl_in_a_directory_of_that_name_is_told_of(copied: Crawl, tmp_path: Path) -> None:
    out = tmp_path / EVIL
    copied.out.rename(out)
    said = ""
    for words in (
        ["status", "--out", EVIL], ["crawls"], ["crawls", EVIL], ["crawls", "--json"], ["report", EVIL], ["report", EVIL, "--html", f"{EVIL}.html"],
        ["report", EVIL, "--json"], ["audit", EVIL], ["aliases", EVIL], ["patterns", EVIL],
        ["export", EVIL, "--output", f"{EVIL}.jsonl"], ["settings", "--out", EVIL, "fetch.contact"],
        ["why", "http://127.1.1.1/", "--out", EVIL], ["why", "http://evil\u202e.example/", "--out", EVIL, "--json"],
        ["crawl", "--resume", "--out", EVIL, "--json"], ["cluster", "--resume", "--out", EVIL],
        ["aliases", EVIL, "--undo", EVIL], ["patterns", EVIL, "--take-up", EVIL],
    ):  # fmt: skip
        told = subprocess.run(
            [*GOSSAMER, *words], capture_output=True, check=False, cwd=tmp_path,
            timeout=120,
        )  # fmt: skip
        assert obeyed(told.stdout, told.stderr) == [], (words, told)
        assert b"Traceback" not in told.stderr
        said += (told.stdout + told.stderr).decode()
    assert "evil\\x1b[31m\\rover\\n" in said
