"""Foreign text within ours, and commands to copy."""

import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from gossamer.words import command, harmless, plain, quoted, with_directory

BASH = shutil.which("bash") or "bash"
HOSTILE = "a\x1b[31m\r\n\u202eb\udc80\x9b"


def test_nothing_that_a_terminal_obeys_is_left() -> None:
    assert plain(HOSTILE) == "a\\x1b[31m\\r\\n\\u202eb\\udc80\\x9b"
    assert harmless(HOSTILE) == "a\\x1b[31m\\r\n\\u202eb\\udc80\\x9b"
    assert plain("é ✓ 日本") == harmless("é ✓ 日本") == "é ✓ 日本"
    assert plain("x" * 300) == "x" * 200 + "…"


@pytest.mark.parametrize(
    "word",
    ["crawl-out", "a b", "it's", '"', "a;b&c|d", "$HOME `x` $(y)", "a\\b", "", "*?[x]", "~", HOSTILE],
)  # fmt: skip
def test_a_shell_takes_a_word_for_what_it_was(word: str) -> None:
    told = subprocess.run(
        [BASH, "-c", f"printf %s {quoted(word)}"], capture_output=True, check=True
    )
    assert told.stdout == os.fsencode(word)
    assert quoted(word).isprintable()


def test_a_command_is_split_into_its_words() -> None:
    words = ["why", "http://a.example/?a=1&b='", "--out", "my crawl"]
    assert shlex.split(command(*words)) == ["gossamer", *words]
    assert command("report", Path("-x")) == "gossamer report ./-x"
    assert command("crawl", "--resume") == "gossamer crawl --resume"
    assert with_directory("see `gossamer why URL --out DIR`", Path("a b")) == (
        "see `gossamer why URL --out 'a b'`"
    )
