"""Wrong use of every command ends with exit code 2, or 1, and one message that says what to do; never with a traceback."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.driven import Ended, drive
from tests.cli.wrong_use import ASKING, IN_DIRECTORY, NOWHERE, URL, places, without_rights

from gossamer.cli.completion_table import read

ENGINE = ["--engine", "nats://127.0.0.1:1"]
NOTHING_NEEDED = {"crawls", "settings", "simweb serve", "simweb truth"}
"""They do their work without a word more."""


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    places(tmp_path)
    yield tmp_path
    (tmp_path / "locked").chmod(0o700)


def one_message(ended: Ended) -> str:
    """What it says: one line, which begins with our name and says what to do after a semicolon."""
    text = ended.err.decode()
    assert "Traceback" not in text, text
    assert ended.out == b"", ended
    (line,) = text.splitlines()
    assert line.startswith("gossamer: "), line
    what, _, to_do = line.removeprefix("gossamer: ").partition("; ")
    assert what
    assert len(to_do) > 10, line
    return line


def refused_by_options(ended: Ended) -> str:
    """What the reading of options says: usage, where help is, and the error."""
    assert ended.code == 2, ended
    lines = ended.err.decode().splitlines()
    assert lines[0].startswith("Usage: gossamer ")
    assert lines[1].endswith("-h' for help.")
    return next(line for line in lines if line.startswith("Error: "))


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("none", ("there is no such directory", "which is not there", "holds no crawl")),
        ("file", ("it is a file", "is not a directory")),
        ("empty", ("holds no crawl", "no control node is known")),
        ("photos", ("holds no crawl", "no control node is known")),
    ],
)
def test_a_directory_that_holds_no_crawl(root: Path, place: str, said: tuple[str, ...]) -> None:
    before = sorted(root.rglob("*"))
    for ended in drive([[*words, place] for words in IN_DIRECTORY.values()], root):
        assert ended.code == 2, ended
        line = one_message(ended)
        assert place in line
        assert any(text in line for text in said), line
    assert sorted(root.rglob("*")) == before, "looking leaves nothing behind"


def test_a_directory_that_may_not_be_read(root: Path) -> None:
    lines = [[*words, "locked"] for words in IN_DIRECTORY.values()]
    for ended in drive(lines, root, without_rights()):
        error = refused_by_options(ended)
        assert "'locked' is not readable; check whose it is and its permissions" in error


def test_a_crawl_whose_settings_cannot_be_read(root: Path) -> None:
    """Some do without them; what they say then has a note."""
    # It serves what there is, until Ctrl-C.
    lines = [[*words, "odd"] for name, words in IN_DIRECTORY.items() if name != "open"]
    for ended in drive(lines, root):
        assert b"Traceback" not in ended.err
        if ended.code and ended.words[0] != "audit":
            one_message(ended)


def test_a_control_node_that_does_not_answer(root: Path) -> None:
    lines = [[*IN_DIRECTORY[name], "refused"] for name in ASKING if name != "why"]
    lines += [
        [*words, "--control", NOWHERE, "--out", "refused"]
        for words in (["status"], ["pause"], ["why", URL], ["patterns"], ["seed", URL])
    ]
    for ended in drive(lines, root):
        assert ended.code == 1, ended
        assert one_message(ended) == (
            f"gossamer: no answer from {NOWHERE}: Connection refused; "
            "check the address, and that the crawl still runs"
        )


def test_no_words_at_all(tmp_path: Path) -> None:
    lines = [name.split() for name in read()["commands"] if name not in NOTHING_NEEDED]
    for ended in drive(lines, tmp_path):
        assert ended.code == 2, ended
        if ended.err.startswith(b"gossamer: "):
            one_message(ended)
        elif ended.words != ["simweb"]:
            assert "Missing " in refused_by_options(ended)
        else:
            # The help of a group of commands, which has lines.
            assert b"\n  serve" in ended.err


def test_an_unknown_option(tmp_path: Path) -> None:
    lines = [[*name.split(), "--nonsense"] for name in read()["commands"]]
    for ended in drive(lines, tmp_path):
        assert "No such option: --nonsense" in refused_by_options(ended)


WRONG: dict[str, tuple[list[str], int, str]] = {
    "a file in place of the new directory": (["crawl", URL, "--out", "file"], 2, "file is not a directory; choose another"),
    "a file on the way to it": (["crawl", URL, "--out", "file/x"], 1, "cannot begin a crawl in file/x: Not a directory; check"),
    "photos in it": (["crawl", URL, "--out", "photos"], 2, "photos is not empty and holds no crawl; choose another"),
    "settings that are a directory": (["crawl", URL, "--config", "empty"], 2, "cannot read empty: Is a directory; name a file"),
    "settings that are none": (["crawl", URL, "--config", "file"], 2, "file is not valid TOML: "),
    "seeds that are a directory": (["crawl", "--seeds", "empty"], 2, "cannot read the seeds in empty: Is a directory; name a file"),
    "a control node's directory": (["control", *ENGINE, "--out", "file"], 2, "file is not a directory; choose another"),
    "a node's directory": (["node", *ENGINE, "--snapshots", "s", "--out", "file"], 2, "file is not a directory; choose another"),
    "no engine": (["nodes", "list"], 2, "no engine is named; give --engine"),
    "an engine that is away": (["nodes", "list", *ENGINE], 1, "no engine answers"),
    "an address": (["status", "--control", "x"], 2, "--control: 'x' is no address of a control node; give it as"),
    "a token": (["status", "--control", NOWHERE], 2, "no token in crawl-out/control/token; name the crawl's directory"),
    "a gap": (["slow", "a.example", "--gap", "x"], 2, "--gap: 'x' is no time; give one such as 5s"),
    "no gap": (["slow", "a.example"], 2, "it is not said how slow; give a gap"),
    "a port": (["crawl", URL, "--serve-port", "99999"], 2, "control.port: a whole number from 0 to 65535"),
    "a word": (["settings", "zzzzqq"], 2, "no setting has 'zzzzqq'"),
}  # fmt: skip


def test_what_else_goes_wrong(root: Path) -> None:
    for ended, (_, code, said) in zip(
        drive([words for words, _, _ in WRONG.values()], root), WRONG.values(), strict=True
    ):
        assert ended.code == code, ended
        assert said in one_message(ended)


def test_a_place_that_may_not_be_written(root: Path) -> None:
    words = [["crawl", URL, "--out", "locked/x"], ["cluster", URL, "--out", "locked/x"], ["control", *ENGINE, "--out", "locked/x"], ["node", *ENGINE, "--snapshots", "s", "--out", "locked/x"]]  # fmt: skip
    for ended in drive(words, root, without_rights()):
        assert ended.code == 1, ended
        line = one_message(ended)
        assert "Permission denied; check that the place is there" in line
