"""Every line of a seeds file that cannot be taken is told by its number, however many there are."""

from pathlib import Path

import pytest
from tests.cli.driven import drive

from gossamer.cli.seeds import SHOWN_REFUSED
from gossamer.cli.seeds_told import MOST_RANGES, ranges
from gossamer.words import count

CONTROL = ["control", "--engine", "nats://127.0.0.1:1"]


def bad(*numbers: int) -> str:
    return "".join(f"bad{at}\n" if at in numbers else "# a note\n" for at in range(1, max(numbers) + 1))  # fmt: skip


@pytest.mark.parametrize("command", [["crawl"], ["cluster"], CONTROL], ids=lambda words: words[0])
def test_the_lines_of_all_are_told(tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "seeds.txt").write_text(bad(*range(1, 16), 17, 19, 20, 21))
    words = [*command, "--seeds", "seeds.txt", "--out", "out"]
    short, whole = drive([words, [*words, "-v"]], tmp_path)
    lines = short.err.decode().splitlines()
    assert short.code == whole.code == 2
    assert lines[SHOWN_REFUSED - 1].startswith("seed refused: seeds.txt:10: bad10: ")
    assert lines[SHOWN_REFUSED] == (
        "… and 9 more seeds refused, in seeds.txt: lines 11-15, 17, 19-21 (-v tells why)"
    )
    told = [line for line in whole.err.decode().splitlines() if line.startswith("seed refused: ")]
    assert len(told) == 19
    assert told[-1].startswith("seed refused: seeds.txt:21: bad21: ")
    assert "more seeds refused" not in whole.err.decode()


def test_the_list_is_bounded() -> None:
    assert ranges([7]) == "line 7"
    assert ranges([3, 1, 2, 2]) == "lines 1-3"
    assert ranges([4, 5]) == "lines 4, 5"
    told = ranges(range(1, 200_000, 2))
    assert told.startswith("lines 1, 3, 5, ")
    assert told.endswith(f", 79 and {count(100_000 - MOST_RANGES)} more, the last 199999")
